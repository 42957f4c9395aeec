package targets_test

import (
	"math"
	"strings"
	"testing"

	"github.com/poolswap/poolswap/bench/internal/results"
	"github.com/poolswap/poolswap/bench/internal/targets"
)

// find returns the only target whose text has all parts.
func find(t *testing.T, run *results.Run, parts ...string) targets.Target {
	t.Helper()
	var found []targets.Target
next:
	for _, target := range targets.Of(run) {
		for _, part := range parts {
			if !strings.Contains(target.What, part) {
				continue next
			}
		}
		found = append(found, target)
	}
	if len(found) != 1 {
		t.Fatalf("%d targets are about %q", len(found), parts)
	}
	return found[0]
}

func add(run *results.Run, suite, c, rival, unit string, values ...float64) {
	for _, v := range values {
		run.Get(suite, c, rival).Add(1, map[string]float64{unit: v})
	}
}

func TestVerdicts(t *testing.T) {
	const c = "threads=1/writer=none"
	for _, test := range []struct {
		ours, theirs float64
		want         targets.Verdict
	}{
		{10, 10, targets.Met},
		{10.01, 10, targets.NotMet},
		{math.NaN(), 10, targets.NotMeasured},
	} {
		run := new(results.Run)
		if !math.IsNaN(test.ours) {
			add(run, "rivals", c, "PoolSwap", "ns/op", test.ours, test.ours)
		}
		add(run, "rivals", c, "arc-swap", "ns/op", test.theirs, test.theirs)
		if got := find(t, run, "Acquire+Release against arc-swap", c); got.Verdict != test.want {
			t.Errorf("%v against %v: %s (%v), want %s", test.ours, test.theirs, got.Verdict, got.Measured, test.want)
		}
	}
}

func TestLimitThatMustNotBeReached(t *testing.T) {
	run := new(results.Run)
	add(run, "cadence", "update=bare", "PoolSwap", "ns/op", 1000)
	if got := find(t, run, "Update without contention, beyond fill"); got.Verdict != targets.NotMet {
		t.Errorf("1 µs is taken for less than 1 µs")
	}
}

func TestWorstCellDecides(t *testing.T) {
	run := new(results.Run)
	add(run, "hotswap", "writes=1%/limit=512MiB", "PoolSwap", "B/op", 1)
	if got := find(t, run, "hot swap, bytes"); got.Verdict != targets.Met || got.Measured != 1 {
		t.Errorf("1 B/op in one cell: %+v", got)
	}
	add(run, "hotswap", "writes=50%/limit=50MiB", "PoolSwap", "B/op", 17)
	if got := find(t, run, "hot swap, bytes"); got.Verdict != targets.NotMet || got.Measured != 17 {
		t.Errorf("17 B/op in another: %+v", got)
	}
}

func TestMedianCellAgainstAsManyMaps(t *testing.T) {
	run := new(results.Run)
	for _, c := range []struct {
		name string
		ours float64
	}{{"writes=1%/limit=512MiB", 102}, {"writes=10%/limit=512MiB", 104}, {"writes=50%/limit=50MiB", 200}} {
		add(run, "hotswap", c.name, "PoolSwap", "ns/op", c.ours)
		add(run, "hotswap", c.name, "Unsynchronized+1", "ns/op", 100)
	}
	if got := find(t, run, "as many maps"); got.Verdict != targets.Met || got.Measured != 1.04 {
		t.Errorf("ratios of 1.02, 1.04 and 2: %+v", got)
	}
}

func TestBytesAreThoseOfTheMedianSample(t *testing.T) {
	run := new(results.Run)
	add(run, "hotswap", "writes=50%/limit=50MiB", "PoolSwap", "B/op", 630, 0, 640, 620, 0)
	if got := find(t, run, "hot swap, bytes"); got.Verdict != targets.NotMet || got.Measured != 620 {
		t.Errorf("620 B/op in the middle: %+v", got)
	}
}

func TestOneMapMadeIsOneTooMany(t *testing.T) {
	run := new(results.Run)
	add(run, "hotswap", "writes=1%/limit=512MiB", "PoolSwap", "maps/op", 0, 0, 0, 0.0001, 0, 0)
	if got := find(t, run, "hot swap, maps made"); got.Verdict != targets.NotMet {
		t.Errorf("a map made in one sample: %+v", got)
	}
}

func TestOneResetByAReaderIsOneTooMany(t *testing.T) {
	run := new(results.Run)
	add(run, "latency", "reads=all", "PoolSwap", "reader-resets", 0, 0, 0, 1, 0, 0)
	if got := find(t, run, "resets run by readers while"); got.Verdict != targets.NotMet {
		t.Errorf("one reset in one sample: %+v", got)
	}
}

func TestPortableMachineIsNotHeldToAsymmetricTargets(t *testing.T) {
	run := &results.Run{Machine: results.Machine{Counting: "portable"}}
	for _, target := range targets.Of(run) {
		if strings.HasPrefix(target.What, "Acquire+Release against arc-swap") {
			t.Errorf("judged all the same: %s", target.What)
		}
	}
}

func TestLimitThatMustBeReached(t *testing.T) {
	for _, c := range []struct {
		refill float64
		want   targets.Verdict
	}{{1000, targets.Met}, {999, targets.NotMet}} {
		run := new(results.Run)
		add(run, "delta", "changes=10/keys=100k", "Oplog", "ns/op", 1)
		add(run, "delta", "changes=10/keys=100k", "Refill", "ns/op", c.refill)
		if got := find(t, run, "a full refill against oplog.Map"); got.Verdict != c.want {
			t.Errorf("%v times as long: %s, want %s", c.refill, got.Verdict, c.want)
		}
	}
}

func TestUpdateOfManyKeysIsJudgedByThatOfFew(t *testing.T) {
	run := new(results.Run)
	add(run, "delta", "changes=10/keys=10k", "Oplog", "ns/op", 4, 4, 4)
	add(run, "delta", "changes=10/keys=1M", "Oplog", "ns/op", 6, 10, 12)
	if got := find(t, run, "1,000,000 keys against 10,000"); got.Verdict != targets.NotMet || got.Measured != 2.5 {
		t.Errorf("ratios of 1.5, 2.5 and 3: %+v", got)
	}
}
