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

type pool interface {
	Get() *int
	Put(*int)
	Collected()
	Collections() int64
}

var pools = []struct {
	name     string
	make     func(func() *int) pool
	survives int // how many collections an unused object survives
}{
	{"as up to Go 1.12", func(f func() *int) pool { return oldpool.NewLocked(f) }, 0},
	{"as since Go 1.13", func(f func() *int) pool { return oldpool.NewChained(f) }, 1},
}

func TestObjectsSurviveCollections(t *testing.T) {
	for _, kind := range pools {
		for collections := range 3 {
			for _, objects := range []int{1, 2, 100} {
				var made int
				p := kind.make(func() *int { made++; return new(int) })
				taken := make([]*int, objects)
				for i := range taken {
					taken[i] = p.Get()
				}
				for _, x := range taken {
					p.Put(x)
				}
				made = 0
				for range collections {
					p.Collected()
				}
				for range objects {
					p.Get()
				}
				want := objects
				if collections <= kind.survives {
					want = 0
				}
				// A goroutine that moves to another P leaves one private
				// object behind.
				if made < want || made > want+1 && want == 0 {
					t.Errorf("%s: after %d collections %d of %d objects were made anew, want %d", kind.name, collections, made, objects, want)
				}
			}
		}
	}
}

func TestTheGarbageCollectorEmptiesPools(t *testing.T) {
	for _, kind := range pools {
		var made atomic.Int64
		p := kind.make(func() *int { made.Add(1); return new(int) })
		p.Put(p.Get())
		for range kind.survives + 1 {
			seen := p.Collections()
			runtime.GC()
			for p.Collections() == seen {
				runtime.Gosched()
			}
		}
		if made.Store(0); p.Get() == nil || made.Load() != 1 {
			t.Errorf("%s: the pool was not empty after %d collections", kind.name, kind.survives+1)
		}
	}
}

func TestNoObjectIsHandedOutTwice(t *testing.T) {
	for _, kind := range pools {
		t.Run(kind.name, func(t *testing.T) {
			p := kind.make(func() *int { return new(int) })
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
							p.Collected()
						}
					}
				})
			}
			wg.Wait()
			if n := twice.Load(); n != 0 {
				t.Errorf("%d objects were in use twice", n)
			}
		})
	}
}
