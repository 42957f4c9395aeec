package seam_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"

	"github.com/poolswap/poolswap/internal/seam"
)

func TestASignalWakesAllWhoWait(t *testing.T) {
	signal, never := seam.NewSignal(), seam.NewSignal()
	select {
	case <-signal.Done():
		t.Fatal("a new signal has fired")
	default:
	}
	var note int // the signal passes it on: the race detector watches
	errs := make(chan error)
	for i := range 4 {
		go func() {
			var err error
			if i%2 == 0 {
				err = seam.Wait(t.Context(), signal, nil)
			} else {
				err = seam.Wait(t.Context(), never, signal)
			}
			if err == nil && note != 1 {
				err = errors.New("woken before the signal")
			}
			errs <- err
		}()
	}
	note = 1
	signal.Fire()
	for range 4 {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	if err := seam.Wait(t.Context(), signal, nil); err != nil {
		t.Error("a wait for a signal that has fired:", err)
	}
	<-signal.Done()
}

func TestAWaitEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	errs := make(chan error)
	go func() { errs <- seam.Wait(ctx, seam.NewSignal(), nil) }()
	go func() { errs <- seam.Wait(ctx, seam.NewSignal(), seam.NewSignal()) }()
	cancel(errors.New("a cause"))
	for range 2 {
		if err := <-errs; err != context.Canceled {
			t.Errorf("Wait returned %v, want the context's error", err)
		}
	}
}

func TestDoneOfNoSignalIsNil(t *testing.T) {
	if done := (*seam.Signal)(nil).Done(); done != nil {
		t.Error("a channel of no signal")
	}
}

func TestASequenceGivesEachNumberOnce(t *testing.T) {
	const goroutines, times = 4, 1000
	var s seam.Sequence
	if s.Last() != 0 {
		t.Errorf("the last number of a new sequence is %d", s.Last())
	}
	numbers := make([][]uint64, goroutines)
	var all sync.WaitGroup
	for g := range numbers {
		all.Go(func() {
			for range times {
				n := s.Next()
				if last := s.Last(); last < n {
					t.Errorf("the last number is %d after %d was given", last, n)
				}
				numbers[g] = append(numbers[g], n)
			}
		})
	}
	all.Wait()
	for g, mine := range numbers {
		if !slices.IsSorted(mine) {
			t.Errorf("goroutine %d got numbers out of order", g)
		}
	}
	given := slices.Sorted(slices.Values(slices.Concat(numbers...)))
	for i, n := range given {
		if n != uint64(i)+1 {
			t.Fatalf("number %d is %d", i+1, n)
		}
	}
	if s.Last() != goroutines*times {
		t.Errorf("the last number is %d", s.Last())
	}
}
