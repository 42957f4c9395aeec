//go:build poolswapsched

package jitter_test

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/poolswap/poolswap/internal/jitter"
	"github.com/poolswap/poolswap/internal/seam"
)

// lagging increments c until other processors do not see an increment, which is
// nearly always the first.
func lagging(t *testing.T, m *jitter.Machine, c *seam.Count) (mine uint64) {
	t.Helper()
	for range 10_000 {
		m.Pin()
		m.IncPlain(c)
		mine = m.ReadCount(c)
		seen := c.Raw().Load()
		m.Unpin()
		if seen < mine {
			return mine
		}
	}
	t.Fatal("other processors saw every increment at once")
	return 0
}

func TestGoroutineSeesItsOwnIncrements(t *testing.T) {
	m := jitter.New(3)
	var c seam.Count
	for want := range uint64(1000) {
		if got := m.ReadCount(&c); got != want {
			t.Fatalf("read %d after %d increments", got, want)
		}
		m.Pin()
		m.IncPlain(&c)
		m.Unpin()
	}
}

func TestFencesMakeIncrementsVisible(t *testing.T) {
	elsewhere := func(f func()) {
		var group sync.WaitGroup
		group.Go(f)
		group.Wait()
	}
	for name, fence := range map[string]func(m *jitter.Machine){
		"a fence":                     func(m *jitter.Machine) { m.Fence() },
		"a store":                     func(m *jitter.Machine) { m.Step(seam.OpStore, nil) },
		"a compare-and-swap":          func(m *jitter.Machine) { m.Step(seam.OpCompareAndSwap, nil) },
		"a lock":                      func(m *jitter.Machine) { m.Lock(new(seam.Mutex)) },
		"a membarrier":                func(m *jitter.Machine) { _ = m.Membarrier() },
		"a membarrier of another":     func(m *jitter.Machine) { elsewhere(func() { _ = m.Membarrier() }) },
		"a move to another processor": func(m *jitter.Machine) { move(m) },
		"many steps of another":       func(m *jitter.Machine) { elsewhere(func() { loads(m) }) },
	} {
		t.Run(name, func(t *testing.T) {
			m := jitter.New(3)
			var c seam.Count
			want := lagging(t, m, &c)
			fence(m)
			if got := c.Raw().Load(); got != want {
				t.Errorf("other processors see %d increments, want %d", got, want)
			}
		})
	}
}

// move pins until the caller has been on two processors.
func move(m *jitter.Machine) {
	pin := func() int {
		defer m.Unpin()
		return m.Pin()
	}
	first := pin()
	for pin() == first {
		runtime.Gosched()
	}
}

func loads(m *jitter.Machine) {
	for range 10_000 {
		m.Step(seam.OpLoad, nil)
	}
}

func TestProcessorIsPinnedToOneGoroutine(t *testing.T) {
	const cpus = 3
	m := jitter.New(cpus)
	var pinned [cpus]atomic.Int32
	var group sync.WaitGroup
	for range 2 * cpus {
		group.Go(func() {
			for range 500 {
				k := m.Pin()
				if n := pinned[k].Add(1); n != 1 {
					t.Errorf("%d goroutines on processor %d", n, k)
				}
				m.Step(seam.OpLoad, nil)
				pinned[k].Add(-1)
				m.Unpin()
			}
		})
	}
	group.Wait()
}

func TestMutexExcludes(t *testing.T) {
	m := jitter.New(3)
	var mu seam.Mutex
	n := 0
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for range 500 {
				m.Lock(&mu)
				was := n
				m.Step(seam.OpLoad, nil)
				n = was + 1
				m.Unlock(&mu)
			}
		})
	}
	group.Wait()
	if n != 4*500 {
		t.Errorf("%d, want %d", n, 4*500)
	}
}

func TestWaitWaitsForStartedGoroutines(t *testing.T) {
	m := jitter.New(3)
	var ended atomic.Int32
	m.Go(func() {
		loads(m)
		m.Go(func() {
			loads(m)
			ended.Add(1)
		})
		ended.Add(1)
	})
	m.Wait()
	if n := ended.Load(); n != 2 {
		t.Errorf("%d of 2 have ended", n)
	}
}
