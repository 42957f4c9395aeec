//go:build poolswapsched

package sched_test

import (
	"context"
	"fmt"
	"testing"
	"unsafe"

	"github.com/poolswap/poolswap/internal/sched"
	"github.com/poolswap/poolswap/internal/seam"
)

// waits is a thread that waits for one of two signals and reads a word, and
// threads that fire one each, after a store.
func waits(fired ...int) program {
	return func(w *sched.World, read []uint64) {
		x := word(w, "x")
		signals := []*seam.Signal{seam.NewSignal(), seam.NewSignal()}
		for i, signal := range signals {
			w.Label(unsafe.Pointer(signal), fmt.Sprint("signal ", i))
		}
		for _, i := range fired {
			w.Start(fmt.Sprint("firer ", i), func() { x.Add(1); signals[i].Fire() })
		}
		w.Start("waiter", func() {
			_ = seam.Wait(context.Background(), signals[0], signals[1])
			read[0] = x.Load()
		})
	}
}

// taken is a thread that has a turn, and one that waits for the turn or a
// signal, which a third fires. The turn's owner passes it on or keeps it.
func taken(passes bool) program {
	return func(w *sched.World, read []uint64) {
		turn, signal := new(seam.Turn), seam.NewSignal()
		w.Label(unsafe.Pointer(turn), "turn")
		w.Label(unsafe.Pointer(signal), "signal")
		_, _ = turn.Take(context.Background(), nil)
		if passes {
			w.Start("owner", turn.Pass)
		}
		w.Start("firer", signal.Fire)
		w.Start("waiter", func() {
			got, _ := turn.Take(context.Background(), signal)
			read[0] = bit(got)
		})
	}
}

// wakeUp is threads that wait until a word is 1 and one that stores it: a
// waiter asks for a signal and looks at the word, in that order if asksFirst is
// set; the other stores and fires the signal, if a thread has asked.
func wakeUp(waiters int, asksFirst bool) sched.Scenario {
	return func(w *sched.World) {
		x, asked := word(w, "x"), new(seam.Pointer[seam.Signal])
		w.Label(unsafe.Pointer(asked), "asked")
		ask := func() *seam.Signal {
			for {
				if signal := asked.Load(); signal != nil {
					return signal
				}
				if signal := seam.NewSignal(); asked.CompareAndSwap(nil, signal) {
					return signal
				}
			}
		}
		for range waiters {
			w.Start("waiter", func() {
				for {
					var signal *seam.Signal
					if asksFirst {
						signal = ask()
					}
					if x.Load() == 1 {
						return
					}
					if !asksFirst {
						signal = ask()
					}
					_ = seam.Wait(context.Background(), signal, nil)
				}
			})
		}
		w.Start("waker", func() {
			x.Store(1)
			if signal := asked.Swap(nil); signal != nil {
				signal.Fire()
			}
		})
	}
}

func TestAWaiterIsWokenInEveryInterleaving(t *testing.T) {
	for waiters := range 4 {
		passes(t, wakeUp(waiters, true))
	}
}

func TestExploreReportsALostWakeUpAsADeadlock(t *testing.T) {
	finds(t, sched.Config{}, wakeUp(1, false), "deadlock: waiter waits for ever",
		"waiter ", "load x = 0x0", "store x", "swap asked = 0x0", "compare-and-swap asked = 0x1")
}

// TestAThreadThatNoneWakesIsADeadlock: also while other threads end.
func TestAThreadThatNoneWakesIsADeadlock(t *testing.T) {
	finds(t, sched.Config{}, func(w *sched.World) {
		x := word(w, "x")
		signal := seam.NewSignal()
		w.Start("other", func() { x.Store(1) })
		w.Start("waiter", func() { _ = seam.Wait(context.Background(), signal, nil) })
	}, "deadlock: waiter waits for ever")
}

// TestEqualWaitsAreOneState: signals that threads make are named by the step that made
// them, so that each run, whose signals have other addresses, does not count as
// another state.
func TestEqualWaitsAreOneState(t *testing.T) {
	first := sched.Explore(sched.Config{}, wakeUp(3, true), 0)
	again := sched.Explore(sched.Config{}, wakeUp(3, true), 0)
	every := sched.Explore(sched.Config{EveryOrder: true}, wakeUp(3, true), 0)
	if !first.Complete || first.States != again.States || first.Runs != again.Runs || first.States != every.States {
		t.Errorf("%+v, then %+v, and in every order %+v", first, again, every)
	}
}
