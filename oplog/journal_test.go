package oplog

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// slowJournal is a journal that keeps everything and looks at all of it.
type slowJournal struct {
	keep    int
	base    uint64
	batches []slowBatch // since base
}

type slowBatch struct {
	version uint64
	ops     []int
}

func (s *slowJournal) kept() (n int) {
	for _, b := range s.batches {
		n += len(b.ops)
	}
	return n
}

func (s *slowJournal) append(version uint64, ops []int) {
	s.batches = append(s.batches, slowBatch{version, slices.Clone(ops)})
	for s.kept() > s.keep {
		s.base = s.batches[0].version
		s.batches = s.batches[1:]
	}
}

func (s *slowJournal) restart(version uint64) { s.base, s.batches = version, nil }

func (s *slowJournal) since(version uint64) (ops []int, known bool) {
	known = version == s.base
	for _, b := range s.batches {
		if known {
			ops = append(ops, b.ops...)
		}
		known = known || version == b.version
	}
	return ops, known
}

func (s *slowJournal) last() uint64 {
	if len(s.batches) == 0 {
		return s.base
	}
	return s.batches[len(s.batches)-1].version
}

// checkJournal compares j with the oracle, for each version up to newest+1.
func checkJournal(t *testing.T, j *journal[int], want *slowJournal, newest uint64) {
	t.Helper()
	if j.kept() != want.kept() || j.last() != want.last() || j.base != want.base {
		t.Fatalf("kept %d, last %d, base %d, want %d, %d, %d", j.kept(), j.last(), j.base, want.kept(), want.last(), want.base)
	}
	for version := range newest + 2 {
		ops, known := j.since(version)
		wantOps, wantKnown := want.since(version)
		if known != wantKnown || !slices.Equal(ops, wantOps) {
			t.Fatalf("since version %d: %v, %v, want %v, %v", version, ops, known, wantOps, wantKnown)
		}
	}
	all, _ := want.since(want.base)
	checkQueue(t, &j.ops, all)
}

// TestJournalAgreesWithSlowJournal takes random operations as Log makes them:
// publications, and a restart now and then.
func TestJournalAgreesWithSlowJournal(t *testing.T) {
	for seed := range uint64(60) {
		random := rand.New(rand.NewPCG(seed, 2))
		keep := []int{1, 2, 5, 8, 30}[seed%5]
		version, next := uint64(3), 1
		j := journal[int]{keep: keep, base: version}
		want := slowJournal{keep: keep, base: version}
		for range 200 {
			version += 1 + uint64(random.IntN(2)) // versions have gaps: other containers, foreign publications
			if random.IntN(20) == 0 {
				restartedAt := version * uint64(random.IntN(2)) // 0: the container was emptied
				j.restart(restartedAt)
				want.restart(restartedAt)
				checkJournal(t, &j, &want, version)
				continue
			}
			ops := make([]int, 1+random.IntN(10))
			for i := range ops {
				ops[i], next = next, next+1
			}
			want.append(version, ops)
			j.append(version, ops)
			clear(ops) // the journal has a copy
			checkJournal(t, &j, &want, version)
		}
	}
}

func TestJournalAllocations(t *testing.T) {
	j := journal[int]{keep: 64, base: 1}
	ops, version := make([]int, 10), uint64(1)
	cycle := func() {
		version++
		j.append(version, ops)
	}
	for range 1000 {
		cycle()
	}
	if allocations := testing.AllocsPerRun(1000, cycle); allocations != 0 {
		t.Errorf("%v allocations", allocations)
	}
}
