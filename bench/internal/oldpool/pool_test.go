//go:build !race

// Under the race detector a private slot looks like a race: the detector does
// not know that pinned goroutines of one P cannot run at the same time.

package oldpool_test

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/poolswap/poolswap/bench/internal/oldpool"
)

// collect forces a garbage collection, and waits until the pool has noticed it.
func collect(p *oldpool.Locked[int]) {
	seen := p.Collections()
	runtime.GC()
	for p.Collections() == seen {
		runtime.Gosched()
	}
}

func TestObjectsLastUntilTheNextCollection(t *testing.T) {
	for _, objects := range []int{1, 2, 100} {
		made := 0
		p := oldpool.NewLocked(func() *int { made++; return new(int) })
		cycle := func() {
			taken := make([]*int, objects)
			for i := range taken {
				taken[i] = p.Get()
			}
			for _, x := range taken {
				p.Put(x)
			}
		}
		cycle()
		made = 0
		cycle()
		// A goroutine that moves to another P leaves one private object behind.
		if made > 1 {
			t.Errorf("%d of %d objects were made anew", made, objects)
		}
		collect(p)
		made = 0
		cycle()
		if made != objects {
			t.Errorf("after a collection %d objects were made, want %d", made, objects)
		}
	}
}

func TestNoObjectIsHandedOutTwice(t *testing.T) {
	p := oldpool.NewLocked(func() *int { return new(int) })
	var inUse sync.Map
	var twice atomic.Int64
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			var held []*int
			for i := range 20_000 {
				x := p.Get()
				if _, loaded := inUse.LoadOrStore(x, true); loaded {
					twice.Add(1)
				}
				held = append(held, x)
				if i%50 == 49 {
					for _, x := range held {
						inUse.Delete(x)
						p.Put(x)
					}
					held = held[:0]
					runtime.Gosched()
				}
				if i%5000 == 0 {
					runtime.GC()
				}
			}
		})
	}
	wg.Wait()
	if n := twice.Load(); n != 0 {
		t.Errorf("%d objects were in use twice", n)
	}
}
