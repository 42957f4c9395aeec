package seam_test

import (
	"context"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/poolswap/poolswap/internal/seam"
)

// TestATurnThatComesTooLateIsPassedOn: it came after ctx ended and before the
// goroutine that waited ran. With one P it does not run in between, but for a
// preemption.
func TestATurnThatComesTooLateIsPassedOn(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for range 100 {
		var turn seam.Turn
		if got, err := turn.Take(ended, nil); !got || err != nil {
			t.Fatal("a turn that is free was not taken:", got, err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		var waiter sync.WaitGroup
		waiter.Go(func() {
			if got, _ := turn.Take(ctx, nil); got {
				turn.Pass()
			}
		})
		for turn.Waiting() == 0 {
			runtime.Gosched()
		}
		cancel()
		turn.Pass()
		waiter.Wait()
		if got, _ := turn.Take(ended, nil); !got {
			t.Fatal("the turn was lost")
		}
	}
}

// TestTheTurnIsOfOneAtATime: goroutines take the turn, or give up waiting, at
// random. One that gives up may be the one that the turn was just passed to; the
// turn must neither be lost nor become that of two.
func TestTheTurnIsOfOneAtATime(t *testing.T) {
	rounds := 20_000
	if testing.Short() {
		rounds = 2_000
	}
	var turn seam.Turn
	var inside atomic.Int32
	var taken, gaveUp atomic.Int64
	var users sync.WaitGroup
	for range 6 {
		users.Go(func() {
			for range rounds {
				ctx, cancel := context.WithCancel(t.Context())
				signal := seam.NewSignal()
				switch rand.IntN(4) {
				case 0:
					cancel()
				case 1:
					signal.Fire()
				case 2:
					go cancel()
				}
				got, err := turn.Take(ctx, signal)
				if got {
					if n := inside.Add(1); n != 1 || err != nil {
						t.Errorf("%d have the turn, error %v", n, err)
					}
					runtime.Gosched() // others meet the turn taken
					inside.Add(-1)
					turn.Pass()
					taken.Add(1)
				} else {
					gaveUp.Add(1)
				}
				cancel()
			}
		})
	}
	users.Wait()
	if taken.Load() == 0 || gaveUp.Load() == 0 {
		t.Errorf("the turn was taken %d times, and %d gave up", taken.Load(), gaveUp.Load())
	}
	if got, err := turn.Take(t.Context(), nil); !got || err != nil {
		t.Error("the turn was lost in the end:", got, err)
	}
}
