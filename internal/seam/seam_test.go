package seam_test

import (
	"errors"
	"sync"
	"testing"

	"github.com/poolswap/poolswap/internal/seam"
	"github.com/poolswap/poolswap/internal/test/machine"
)

func TestStripeIsAlwaysInRange(t *testing.T) {
	for _, owned := range []int{1, 2, 3, 8, 255, 256} {
		for _, k := range []int{0, 1, owned - 1, owned, owned + 1, 1 << 20, 1<<31 - 1} {
			if got := seam.Stripe(k, owned); got < 0 || got > owned {
				t.Errorf("number %d is counted on stripe %d of %d", k, got, owned)
			}
		}
		for range 100 {
			k := seam.Pin()
			seam.Unpin()
			if got := seam.Stripe(k, owned); got < 0 || got > owned {
				t.Errorf("pinned number %d is counted on stripe %d of %d", k, got, owned)
			}
		}
	}
}

func TestMembarrierWorksOrReturnsAnError(t *testing.T) {
	err := seam.RegisterMembarrier()
	if !seam.CanCountPlain {
		if !errors.Is(err, seam.ErrNoMembarrier) || !errors.Is(seam.Membarrier(), seam.ErrNoMembarrier) {
			t.Errorf("in a build that must not count plainly, RegisterMembarrier returned %v", err)
		}
		return
	}
	if err != nil {
		machine.Lacks(t, "this kernel has no membarrier: ", err)
	}
	for range 1000 {
		if err := seam.Membarrier(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestCountCounts(t *testing.T) {
	var c seam.Count
	for range 3 {
		c.IncPinned(true)
		c.IncPinned(false)
	}
	if got := c.Load(); got != 6 {
		t.Errorf("counted %d, want 6", got)
	}
}

func TestGoRunsOnAnotherGoroutine(t *testing.T) {
	var mu sync.Mutex
	mu.Lock() // if Go ran its argument here, the lock in it would hang
	passed := make(chan struct{})
	seam.Go(func() { mu.Lock(); close(passed) })
	mu.Unlock()
	<-passed
}

func TestFenceDoesNotAllocate(t *testing.T) {
	if allocs := testing.AllocsPerRun(100, seam.Fence); allocs != 0 {
		t.Errorf("%v allocations", allocs)
	}
}
