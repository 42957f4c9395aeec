//go:build poolswapsched

package sched_test

import (
	"strings"
	"testing"
	"unsafe"

	"github.com/poolswap/poolswap/internal/sched"
	"github.com/poolswap/poolswap/internal/seam"
)

// finds explores a scenario that must fail, with a text that contains the parts
// in that order.
func finds(t *testing.T, config sched.Config, s sched.Scenario, parts ...string) sched.Result {
	t.Helper()
	r := sched.Explore(config, s, 0)
	if r.Failure == nil {
		t.Fatalf("nothing was found in %d states", r.States)
	}
	rest := r.Failure.Error()
	for _, part := range parts {
		_, after, found := strings.Cut(rest, part)
		if !found {
			t.Fatalf("%q is missing, or not in its place, in\n%.2000s", part, r.Failure)
		}
		rest = after
	}
	return r
}

// passes explores a scenario that must not fail.
func passes(t *testing.T, s sched.Scenario) {
	t.Helper()
	if r := sched.Explore(sched.Config{}, s, 0); r.Failure != nil || !r.Complete {
		t.Fatalf("complete: %v, failure: %v", r.Complete, r.Failure)
	}
}

// twoMutexes is two threads that each lock two mutexes, in those orders.
func twoMutexes(orders ...string) sched.Scenario {
	return func(w *sched.World) {
		mutexes := map[rune]*seam.Mutex{'a': new(seam.Mutex), 'b': new(seam.Mutex)}
		for _, name := range "ab" {
			w.Label(unsafe.Pointer(&mutexes[name].Held), string(name))
		}
		for i, order := range orders {
			w.Start([]string{"left", "right"}[i], func() {
				for _, one := range order {
					mutexes[one].Lock()
				}
				for _, one := range order {
					mutexes[one].Unlock()
				}
			})
		}
	}
}

func TestExploreReportsADeadlockWithItsTrace(t *testing.T) {
	passes(t, twoMutexes("ab", "ab"))
	finds(t, sched.Config{}, twoMutexes("ab", "ba"), "deadlock: left waits for ever", "left ", "lock a", "right ", "lock b")
}

func TestExploreReportsARunThatIsTooLong(t *testing.T) {
	const most = 50
	r := finds(t, sched.Config{MaxSteps: most}, func(w *sched.World) {
		flag := word(w, "flag")
		w.Start("setter", func() { flag.Store(2) })
		w.Start("spinner", func() {
			for seen := uint64(0); seen != 1; {
				seen = flag.Load()
			}
		})
	}, "no end after 50 steps: a livelock?", "store flag", "load flag = 0x2", "load flag = 0x2")
	if r.MaxLength > most+1 {
		t.Errorf("a run of %d steps", r.MaxLength)
	}
}

// afterYou is two threads that each want to go on alone and give way to the
// other, for so many rounds, or forever if rounds is 0.
func afterYou(rounds int) sched.Scenario {
	return func(w *sched.World) {
		wants := []*seam.Uint64{word(w, "left wants"), word(w, "right wants")}
		for i, name := range []string{"left", "right"} {
			w.Start(name, func() {
				for round := 0; rounds == 0 || round < rounds; round++ {
					w.Forget(uint64(min(round, rounds)))
					wants[i].Store(1)
					alone := wants[1-i].Load() == 0
					wants[i].Store(0)
					if alone {
						return
					}
				}
			})
		}
	}
}

func TestExploreReportsALivelockWhenAStateRepeats(t *testing.T) {
	passes(t, afterYou(3))
	finds(t, sched.Config{}, afterYou(0), "a state comes again in one run: a livelock", "right ", "load left wants = 0x1", "store right wants")
}

func TestATraceListsTheStepsOfTheRun(t *testing.T) {
	finds(t, sched.Config{CPUs: 1}, func(w *sched.World) {
		x := counts(w, "x")[0]
		var seen uint64
		pinned(w, "writer", x.IncPlain)
		w.Start("reader", func() { seen = x.Load() })
		w.AtEnd(func() {
			if seen == 1 {
				w.Fail("it was seen")
			}
		})
	}, "it was seen\n"+
		"0 writer            go \n"+
		"0 writer       cpu0 pin ; plain inc x\n"+
		"1 reader            go \n"+
		"               cpu0 flushes x\n"+
		"1 reader            read count x = 0x1")
}

func TestAPanicOfAThreadFailsTheRun(t *testing.T) {
	finds(t, sched.Config{}, func(w *sched.World) {
		x := word(w, "x")
		w.Start("left", func() { x.Store(1) })
		w.Start("right", func() {
			if x.Load() == 1 {
				panic("it is one")
			}
		})
	}, "right panicked: it is one", "left ", "store x", "right ", "load x = 0x1")
}

func TestExploreReportsAScenarioThatIsNotDeterministic(t *testing.T) {
	failed := false
	finds(t, sched.Config{}, func(w *sched.World) {
		w.Start("thread", func() {
			if !failed {
				failed = true
				w.Fail("this once")
			}
		})
	}, "this once\nthe run could not be repeated")
}

// manyStates is threads of those names that each store to a word three times.
func manyStates(names ...string) sched.Scenario {
	return func(w *sched.World) {
		x := word(w, "x")
		for _, name := range names {
			w.Start(name, func() {
				for i := range 3 {
					x.Store(uint64(i))
				}
			})
		}
	}
}

func TestExploreStopsAtItsLimit(t *testing.T) {
	const limit = 10
	all := sched.Explore(sched.Config{}, manyStates("a", "b", "c"), 0)
	some := sched.Explore(sched.Config{}, manyStates("a", "b", "c"), limit)
	if !all.Complete || some.Complete || some.States < limit || some.States > 2*limit || all.States <= 2*limit {
		t.Errorf("%+v with the limit %d, %+v without one", some, limit, all)
	}
}

func TestThreadsOfOneNameAreInterchangeable(t *testing.T) {
	unlike := sched.Explore(sched.Config{}, manyStates("a", "b", "c"), 0)
	alike := sched.Explore(sched.Config{}, manyStates("a", "a", "a"), 0)
	if 2*alike.States > unlike.States {
		t.Errorf("%d states of threads of one name, %d of threads of three names", alike.States, unlike.States)
	}
	for _, names := range [][]string{{"left", "right"}, {"same", "same"}} {
		got, _ := outcomes(t, sched.Config{}, 1, func(w *sched.World, read []uint64) {
			x := word(w, "x")
			for _, name := range names {
				w.Start(name, func() { x.Store(2*x.Load() + 1) })
			}
			w.AtEnd(func() { read[0] = x.Load() })
		})
		if len(got) != 2 || got[0] != "1" || got[1] != "3" {
			t.Errorf("threads %q: outcomes %q, want 1 and 3", names, got)
		}
	}
}
