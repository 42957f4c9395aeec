//go:build !poolswapsched && !purego && !race

package seam_test

import (
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/poolswap/poolswap/internal/seam"
	"github.com/poolswap/poolswap/internal/test/machine"
)

// cell is one round of the store-buffering litmus test: two goroutines write one
// word each and read the other one. Each word has a cache line of its own.
type cell struct {
	x       uint64 // the reader's, incremented without a fence
	_       [56]byte
	y       atomic.Uint64 // the writer's
	_       [56]byte
	arrived atomic.Int64
	_       [56]byte
	sawY    uint64
	_       [56]byte
	sawX    uint64
	spins   uint64
	_       [48]byte
}

const (
	litmusRounds = 20_000 // of a batch
	litmusBatch  = 100    // batches at most
	litmusEnough = 200    // wrong rounds without a fence, after which none with one is a result
	// Stores to lines that no cache has keep those behind them in the store
	// buffer for many hundreds of nanoseconds.
	litmusMisses = 40
	litmusLines  = 1 << 20 // 64 MiB
	litmusDelays = 1024
)

// storeBuffering returns in how many rounds neither saw the other's store, where
// the writer calls fence between its store and its load.
func storeBuffering(misses [][8]uint64, fence func()) (forbidden int) {
	cells := make([]cell, litmusRounds)
	meet := func(c *cell) {
		c.arrived.Add(1)
		for spins := 0; c.arrived.Load() < 2; spins++ {
			if spins > 10_000 {
				runtime.Gosched() // the other one may have no processor
			}
		}
	}
	var both sync.WaitGroup
	both.Go(func() { // reader
		runtime.LockOSThread()
		line := uint64(1)
		for i := range cells {
			c := &cells[i]
			meet(c)
			for range litmusMisses {
				line = line*6364136223846793005 + 1442695040888963407
				misses[line>>44][0] = line
			}
			c.x++
			c.sawY = c.y.Load()
		}
	})
	both.Go(func() { // writer
		runtime.LockOSThread()
		for i := range cells {
			c := &cells[i]
			meet(c)
			for range i % litmusDelays { // the reader must come to its load first, and not long before
				c.spins++
			}
			c.y.Store(1)
			fence()
			c.sawX = atomic.LoadUint64(&c.x)
		}
	})
	both.Wait()
	for i := range cells {
		if cells[i].sawX == 0 && cells[i].sawY == 0 {
			forbidden++
		}
	}
	return forbidden
}

// TestMembarrierIsAFenceOfOtherProcessors shows that Membarrier makes a plain
// increment of another processor visible, or that processor's next load late
// enough. Another system call, which takes as long, does not.
func TestMembarrierIsAFenceOfOtherProcessors(t *testing.T) {
	if err := seam.RegisterMembarrier(); err != nil || runtime.GOMAXPROCS(0) < 2 {
		machine.Lacks(t, "this needs membarrier and two processors: ", err)
	}
	misses := make([][8]uint64, litmusLines)
	without := 0
	for batch := 1; without < litmusEnough; batch++ {
		if batch > litmusBatch {
			// Also where POOLSWAP_NO_SKIP is set: a busy machine is blind for a while.
			t.Skipf("blind on this machine: without a fence %d of %d rounds came out wrong", without, litmusBatch*litmusRounds)
		}
		without += storeBuffering(misses, func() { syscall.Getppid() })
		if n := storeBuffering(misses, func() {
			if err := seam.Membarrier(); err != nil {
				t.Error(err)
			}
		}); n > 0 {
			t.Fatalf("Membarrier is no fence: in %d rounds neither processor saw the other's store", n)
		}
	}
	t.Logf("without a fence %d rounds came out wrong", without)
}
