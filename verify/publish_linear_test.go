package verify_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
)

// publishModels are what each history of publications must have.
var publishModels = []struct {
	name  string
	model porcupine.Model
}{
	{"publications and reads", publishModel(publishReads)},
	{"publications and versions", publishModel(publishVersion, publishWaits)},
}

// TestConcurrentHistoriesOfPublicationsAreLinearizable checks that a publication replaces
// what its fill was given and nothing else, that versions grow, and that reads,
// Version and Wait tell of publications in their order.
func TestConcurrentHistoriesOfPublicationsAreLinearizable(t *testing.T) {
	forEachMode(t, func(t *testing.T, portable bool) {
		for _, procs := range everyProcs {
			t.Run(fmt.Sprintf("GOMAXPROCS is %d", procs), func(t *testing.T) {
				withProcs(t, procs)
				widen(t)
				begun := time.Now()
				seed := rand.Uint64()
				random := rand.New(rand.NewPCG(seed, 0))
				pools := []*recorder{newRecorder(portable, 1), newRecorder(portable, 2)}
				n, steps, conflicts := 0, 0, int64(0)
				for i := range rounds(histories(t, 75, 250)) {
					pool := pools[i%2]
					clients := pool.publishRecorder()
					history := clients.run(t, randomScripts(random, 5, 60))
					judgePublications(t, history)
					if met, most := clients.conflicts.Load(), interventions(history); met > most {
						t.Errorf("%d conflicts with %d Updates: publishers do not take turns", met, most)
					}
					pool.quiescent(t)
					if t.Failed() {
						t.Fatalf("the scripts were those of seed %d", seed)
					}
					n++
					steps += len(history)
					conflicts += clients.conflicts.Load()
				}
				t.Logf("%d histories, %d steps on average, %d conflicts, in %v", n, steps/n, conflicts, time.Since(begun).Round(time.Second))
				if conflicts == 0 {
					t.Error("no Publish met a conflict")
				}
			})
		}
	})
}

// publishRecorder returns a recorder of publications in the containers of r.
func (r *recorder) publishRecorder() *publishRecorder {
	var registers []register
	for _, c := range r.containers {
		registers = append(registers, swapped{c})
	}
	return newPublishRecorder(registers...)
}

// interventions returns how many Updates a history has. With each at most one
// Publish meets a conflict, since one is in fill at a time.
func interventions(history []porcupine.Operation) (n int64) {
	for _, op := range history {
		if kind := op.Input.(publishStep).kind; kind == publishUpdates || kind == publishEmpties {
			n++
		}
	}
	return n
}

// judgePublications fails the test unless a history of publications is legal.
func judgePublications(t *testing.T, history []porcupine.Operation) {
	t.Helper()
	for _, m := range publishModels {
		if porcupine.CheckOperations(m.model, history) {
			continue
		}
		path, err := picture("publications", m.model, history)
		t.Errorf("%s: no sequential register has this history; see %s (%v)", m.name, path, err)
	}
	if version, twice := sharedVersion(history); twice {
		t.Errorf("version %d is of two containers of one pool", version)
	}
}

// sharedVersion returns a version that was seen in two containers.
func sharedVersion(history []porcupine.Operation) (version uint64, found bool) {
	where := map[uint64]int{}
	for _, op := range history {
		s := op.Input.(publishStep)
		for _, version := range []uint64{s.saw.version, s.made.version} {
			if at, known := where[version]; version != 0 && known && at != s.at {
				return version, true
			}
			where[version] = s.at
		}
	}
	return 0, false
}

// TestTheModelsOfPublicationsRefuseFaultyRegisters records histories of registers
// with a bug. One of them must be illegal soon, and none without a bug.
func TestTheModelsOfPublicationsRefuseFaultyRegisters(t *testing.T) {
	for planted := range plants {
		t.Run(planted.String(), func(t *testing.T) {
			withProcs(t, 4)
			random := rand.New(rand.NewPCG(1, 0))
			illegal := func() bool {
				history := newPublishRecorder(&locked{planted: planted}).run(t, randomScripts(random, 5, 60))
				for _, m := range publishModels {
					if !porcupine.CheckOperations(m.model, history) {
						return true
					}
				}
				return false
			}
			const most = 200
			n := 1
			for n <= most && !illegal() {
				n++
			}
			if refused := n <= most; refused != (planted != plantNothing) {
				t.Errorf("with %v planted a history was refused: %t", planted, refused)
			}
			t.Logf("%d histories", n)
		})
	}
}
