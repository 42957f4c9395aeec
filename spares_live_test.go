package poolswap_test

import (
	"fmt"
	"runtime"
	"sync"
	"testing"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/internal/test/pooltest"
)

// TestFewObjectsAreLiveAtAnyGOMAXPROCS runs one writer and four readers that
// release promptly, for 3,000 updates.
//
// Readers in step release before the next update. Then the factory makes at
// most 3 objects. Every step waits for the previous one, so a suspended thread
// cannot make a reader hold its object longer.
//
// Readers that run freely may be suspended while they hold an object, which is
// live as long. After they stop and every reset is done, only the current object
// and the spares are live. The discard hook disables the overflow, where objects
// would be live until a collection.
func TestFewObjectsAreLiveAtAnyGOMAXPROCS(t *testing.T) {
	const updates, most = 3000, 3
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, procs := range []int{1, 2, 16} {
		runtime.GOMAXPROCS(procs)
		pooltest.ForEachMode(t, func(t *testing.T, options poolswap.Options[table]) {
			t.Run(fmt.Sprintf("GOMAXPROCS %d, readers in step", procs), func(t *testing.T) {
				pool := newCounting(options)
				c := poolswap.NewContainer(pool.Pool, pool.Get())
				readers := startSteppedReaders(c, 4)
				defer readers.stop()
				for range updates {
					readers.step() // each acquires
					c.Update(c.GetNew())
					readers.step() // each releases
					if s := pooltest.Settled(t, pool.Pool, 0); s.Live > most {
						t.Fatalf("%d objects are live: %+v", s.Live, s)
					}
				}
				if s := pool.Stats(); pool.made > most || s.Drained != updates || s.SlowChecks != 4*updates {
					t.Errorf("%d objects were made, %+v", pool.made, s)
				}
			})
			t.Run(fmt.Sprintf("GOMAXPROCS %d, readers running freely", procs), func(t *testing.T) {
				options.Discard = func(*table) {}
				pool := newCounting(options)
				c := poolswap.NewContainer(pool.Pool, pool.Get())
				var readers sync.WaitGroup
				done := make(chan struct{})
				for range 4 {
					readers.Go(func() {
						for {
							select {
							case <-done:
								return
							default:
								c.WithAcquire(func(*table) {})
								runtime.Gosched() // with one P the writer would wait long for its turn
							}
						}
					})
				}
				for range updates {
					c.Update(c.GetNew())
					runtime.Gosched()
				}
				close(done)
				readers.Wait()
				if s := pooltest.Settled(t, pool.Pool, 0); s.Live > most || s.Updates != updates+1 {
					t.Errorf("%d objects are live: %+v", s.Live, s)
				}
			})
		})
	}
}

// steppedReaders are goroutines that acquire at one step and release at the
// next.
type steppedReaders struct {
	start, done []chan struct{}
}

func startSteppedReaders(c *poolswap.Container[table, *table], n int) *steppedReaders {
	r := &steppedReaders{}
	for range n {
		start, done := make(chan struct{}), make(chan struct{})
		r.start, r.done = append(r.start, start), append(r.done, done)
		go func() {
			var held *table
			for range start {
				if held == nil {
					held = c.Acquire()
				} else {
					c.Release(held)
					held = nil
				}
				done <- struct{}{}
			}
		}()
	}
	return r
}

// step starts a step of all readers at once and waits until all are done.
func (r *steppedReaders) step() {
	for _, start := range r.start {
		start <- struct{}{}
	}
	for _, done := range r.done {
		<-done
	}
}

func (r *steppedReaders) stop() {
	for _, start := range r.start {
		close(start)
	}
}
