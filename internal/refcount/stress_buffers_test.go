package refcount_test

import (
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/poolswap/poolswap"
)

const (
	// Stores to lines that no cache has keep the count behind them in the store
	// buffer of the reader's processor for many hundreds of nanoseconds.
	bufferedStores = 40
	bufferLines    = 1 << 20 // 64 MiB

	bufferUpdates = 300_000
	bufferDelays  = 1024
)

// TestStressBehindFullStoreBuffers lets the counts of a reader become visible as
// late as the processor allows, while a writer replaces and refills objects. Only
// the heavy fence lets the writer see them in time.
func TestStressBehindFullStoreBuffers(t *testing.T) {
	updates := bufferUpdates
	if testing.Short() {
		updates /= 3
	}
	pool := poolswap.NewPool(func() *canary { return newCanary(poison) }, func(obj *canary) bool {
		obj.fill(poison)
		return true
	})
	c := poolswap.NewContainer(pool, newCanary(0))
	s := newCrew(t)
	var reads atomic.Uint64
	begun := make(chan struct{}) // closed by the reader's first read
	s.start(func() {
		runtime.LockOSThread() // a thread that moves drains its store buffer
		lines, at, sum := make([][8]uint64, bufferLines), uint64(1), uint64(0)
		for !s.over() {
			for range bufferedStores {
				at = at*6364136223846793005 + 1442695040888963407
				lines[at>>44][0] = at
			}
			obj := c.Acquire()
			word := obj.words[0]
			for range 150 { // long enough for a writer to get it back and fill it
				if !obj.holds(word) || word == poison {
					s.fail("a canary changes while a reader holds it: %x", obj.words)
					break
				}
			}
			c.Release(obj)
			if sum++; sum == 1 {
				close(begun)
			}
		}
		reads.Store(sum)
	})
	s.start(func() {
		defer s.end()
		runtime.LockOSThread()
		select {
		case <-begun: // with one P, all updates could come first
		case <-s.ended: // the first read panicked
		}
		spins := 0
		for i := 1; i <= updates && !s.over(); i++ {
			next := pool.Get()
			next.fill(uint64(i))
			c.Update(next)
			for range i % bufferDelays {
				spins++
			}
		}
		_ = spins
	})
	s.group.Wait()
	t.Logf("%d reads, %d updates", reads.Load(), updates)
	if reads.Load() == 0 {
		t.Error("the reader came to nothing")
	}
}
