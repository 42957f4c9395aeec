package poolswap_test

import (
	"fmt"
	"runtime"
	"sync"
	"testing"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/internal/test/pooltest"
)

// TestFewObjectsAreAliveWhateverGOMAXPROCSIs asserts two things about one
// writer with readers that let go promptly, after each of 3,000 updates.
//
// Readers that let go before the next update: never more than 3 objects have
// come into being. Every step waits for the one before, so a machine that
// suspends a thread cannot make a reader hold on.
//
// Readers that run freely may be suspended while they hold an object, and then
// that object is rightly alive. When they have let go and nothing awaits its
// reset, at most current and the spares are: the discard hook keeps the
// overflow, which the garbage collector empties in its own time, out of it.
func TestFewObjectsAreAliveWhateverGOMAXPROCSIs(t *testing.T) {
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
						t.Fatalf("%d objects are alive: %+v", s.Live, s)
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
				var stop sync.WaitGroup
				done := make(chan struct{})
				for range 4 {
					stop.Go(func() {
						for {
							select {
							case <-done:
								return
							default:
								c.WithAcquire(func(*table) {})
								runtime.Gosched() // or with one P the writer waits long for its turn
							}
						}
					})
				}
				for range updates {
					c.Update(c.GetNew())
					runtime.Gosched()
				}
				close(done)
				stop.Wait()
				if s := pooltest.Settled(t, pool.Pool, 0); s.Live > most || s.Updates != updates+1 {
					t.Errorf("%d objects are alive: %+v", s.Live, s)
				}
			})
		})
	}
}

// steppedReaders acquire at one step and release at the next, each on a
// goroutine of its own.
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

// step lets all readers take their step at once and waits for all of them.
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
