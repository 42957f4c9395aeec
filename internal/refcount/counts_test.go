package refcount_test

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"unsafe"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/internal/refcount"
	"github.com/poolswap/poolswap/internal/seam"
	"github.com/poolswap/poolswap/internal/test/buildflag"
	"github.com/poolswap/poolswap/internal/test/pooltest"
)

// withProcs restores GOMAXPROCS after the test.
func withProcs(t *testing.T) {
	t.Helper()
	was := runtime.GOMAXPROCS(0)
	t.Cleanup(func() { runtime.GOMAXPROCS(was) })
}

// needsExactPin skips a test in a build whose Pin returns no number of a P: a
// hash, or the number that a Machine says.
func needsExactPin(t *testing.T) {
	t.Helper()
	if seam.BuildTag != "" {
		t.Skip("this build does not count by P")
	}
}

// TestAReadCountsOnTheStripeOfItsP pins goroutines to their P and looks on which
// stripe a read counts, until one was on another P than the first.
func TestAReadCountsOnTheStripeOfItsP(t *testing.T) {
	needsExactPin(t)
	withProcs(t)
	runtime.GOMAXPROCS(max(2, runtime.GOMAXPROCS(0)))
	pooltest.ForEachMode(t, func(t *testing.T, options poolswap.Options[table]) {
		c := newTableContainer(options)
		obj := c.Acquire()
		defer c.Release(obj)
		var enough atomic.Bool
		var readers sync.WaitGroup
		for range 4 {
			readers.Go(func() {
				for !enough.Load() {
					k := seam.Pin()
					beforeA, beforeR := objectOf(obj).CountsOf(k)
					same := c.Acquire()
					betweenA, betweenR := objectOf(obj).CountsOf(k)
					c.Release(same)
					afterA, afterR := objectOf(obj).CountsOf(k)
					seam.Unpin()
					if betweenA != beforeA+1 || betweenR != beforeR || afterA != beforeA+1 || afterR != beforeR+1 {
						t.Errorf("on P %d acquired went %d %d %d and released %d %d %d", k,
							beforeA, betweenA, afterA, beforeR, betweenR, afterR)
						enough.Store(true)
					}
					if k != 0 {
						enough.Store(true)
					}
				}
			})
		}
		readers.Wait()
	})
}

// TestProcessorsWithoutAStripeCountInTheOverflow raises GOMAXPROCS after an
// object was made, so that it has fewer stripes than there are Ps.
func TestProcessorsWithoutAStripeCountInTheOverflow(t *testing.T) {
	needsExactPin(t)
	withProcs(t)
	pooltest.ForEachMode(t, func(t *testing.T, options poolswap.Options[table]) {
		runtime.GOMAXPROCS(1)
		stripes := seam.Stripes()
		pool := newTablePool(options)
		obj := &table{value: 1}
		c := poolswap.NewContainer(pool, obj)
		runtime.GOMAXPROCS(4 * stripes)

		// The readers run until an acquire and a release were counted in the
		// overflow, which comes after the last stripe.
		var acquires, releases atomic.Uint64
		var readers sync.WaitGroup
		var stop atomic.Bool
		for range 4 * stripes {
			readers.Go(func() {
				for !stop.Load() {
					held := c.Acquire()
					acquires.Add(1)
					c.Release(held)
					releases.Add(1)
				}
			})
		}
		pooltest.Eventually(t, "the overflow has counted", func() bool {
			acquired, released := objectOf(obj).CountsOf(stripes)
			return acquired > 0 && released > 0
		})
		stop.Store(true)
		readers.Wait()
		if refs := pool.Refs(obj); refs != 0 {
			t.Errorf("%d references", refs)
		}
		var acquired, released uint64
		for k := range stripes + 1 {
			a, r := objectOf(obj).CountsOf(k)
			acquired, released = acquired+a, released+r
		}
		if acquired != acquires.Load() || released != releases.Load() {
			t.Errorf("counted %d and %d, want %d and %d", acquired, released, acquires.Load(), releases.Load())
		}
		c.Update(nil)
		if s := pool.Stats(); s.Drained != 1 || s.Spares != 1 {
			t.Errorf("the object did not drain: %+v", s)
		}
	})
}

// TestGOMAXPROCSDropsWhileReadersHold acquires on many Ps and releases on one.
func TestGOMAXPROCSDropsWhileReadersHold(t *testing.T) {
	withProcs(t)
	pooltest.ForEachMode(t, func(t *testing.T, options poolswap.Options[table]) {
		runtime.GOMAXPROCS(4 * runtime.NumCPU())
		pool := newTablePool(options)
		obj := &table{value: 1}
		c := poolswap.NewContainer(pool, obj)
		var readers sync.WaitGroup
		for range 64 {
			readers.Go(func() { c.Acquire() })
		}
		readers.Wait()
		runtime.GOMAXPROCS(1)
		c.Update(&table{value: 2})
		for held := 64; held > 0; held-- {
			if refs := pool.Refs(obj); refs != held || obj.value != 1 {
				t.Fatalf("%d references, want %d; value %d", refs, held, obj.value)
			}
			c.Release(obj)
		}
		if s := pooltest.Settled(t, pool, 0); s.Spares != 1 {
			t.Errorf("%+v", s)
		}
	})
}

// TestGOMAXPROCSChangesUnderLoad changes GOMAXPROCS while readers read, a writer
// publishes, and new objects get as many stripes as there are Ps at the time.
func TestGOMAXPROCSChangesUnderLoad(t *testing.T) {
	withProcs(t)
	pooltest.ForEachMode(t, func(t *testing.T, options poolswap.Options[table]) {
		options.Discard = func(*table) {}
		pool := newTablePool(options)
		first := pool.Get()
		first.value = 1
		c := poolswap.NewContainer(pool, first)
		var stop atomic.Bool
		var workers sync.WaitGroup
		for range 4 {
			workers.Go(func() {
				r := c.NewReader()
				defer r.Close()
				for !stop.Load() {
					obj := c.Acquire()
					runtime.Gosched() // may resume on another P
					if obj.value == 0 || r.Load().value == 0 {
						t.Error("an object was recycled under its reader")
						stop.Store(true)
					}
					c.Release(obj)
				}
			})
		}
		workers.Go(func() {
			for !stop.Load() {
				next := c.GetNew()
				next.value = 1
				c.Update(next)
				runtime.Gosched()
			}
		})
		most := 3 * runtime.NumCPU()
		for range 100 {
			for _, procs := range []int{1, most, 2, most + 1} {
				runtime.GOMAXPROCS(procs)
				runtime.Gosched()
			}
		}
		stop.Store(true)
		workers.Wait()
		c.Update(nil)
		s := pooltest.Settled(t, pool, 0)
		if s.Current != 0 || s.Retired != 0 || s.Lost != 0 || s.Updates < 10 {
			t.Errorf("in the end: %+v", s)
		}
	})
}

// TestASingleProcessorCountsOnStripeZero: the only P has number 0. The assembly
// finds that without the runtime.
func TestASingleProcessorCountsOnStripeZero(t *testing.T) {
	needsExactPin(t)
	withProcs(t)
	pooltest.ForEachMode(t, func(t *testing.T, options poolswap.Options[table]) {
		pool := newTablePool(options)
		obj := &table{value: 1}
		c := poolswap.NewContainer(pool, obj)
		runtime.GOMAXPROCS(1)
		for range 5 {
			c.Acquire()
		}
		for range 3 {
			c.Release(obj)
		}
		if acquired, released := objectOf(obj).CountsOf(0); acquired != 5 || released != 3 {
			t.Errorf("stripe 0 counted %d and %d, want 5 and 3", acquired, released)
		}
	})
}

// TestCountersMayWrapAround starts with counters that are about to exceed 64
// bits. Their sums are modular and must still identify the last reader.
func TestCountersMayWrapAround(t *testing.T) {
	pooltest.ForEachMode(t, func(t *testing.T, options poolswap.Options[table]) {
		for before := range uint64(4) { // increments until the wrap
			if _, panicked := pooltest.OnAnother(func() { wrapAround(t, options, before) }); panicked != nil {
				t.Errorf("%d before the wrap: panic %v", before, panicked)
			}
		}
	})
}

func wrapAround(t *testing.T, options poolswap.Options[table], before uint64) {
	pool := newTablePool(options)
	old := &table{value: 1}
	c := poolswap.NewContainer(pool, old)
	objectOf(old).PresetCounts(-before)
	for range 3 {
		c.Acquire()
	}
	c.Release(old)
	if refs := pool.Refs(old); refs != 2 {
		t.Errorf("%d before the wrap: %d references, want 2", before, refs)
	}
	c.Update(&table{value: 2})
	c.Release(old)
	if s := pool.Stats(); s.Retired != 1 || s.Lost != 0 {
		t.Errorf("%d before the wrap: with one reader left: %+v", before, s)
	}
	c.Release(old)
	if s := pool.Stats(); s.Retired != 0 || s.Lost != 0 {
		t.Errorf("%d before the wrap: after the last release: %+v", before, s)
	}
}

type behindItsFields struct {
	value int
	poolswap.Ref
}

// TestAReaderCountsAgainOnlyAfterAnUpdate: a Reader that never recognized the object that it
// holds would return the right objects, slowly.
func TestAReaderCountsAgainOnlyAfterAnUpdate(t *testing.T) {
	pooltest.ForEachMode(t, func(t *testing.T, options poolswap.Options[behindItsFields]) {
		pool := poolswap.NewPoolWithOptions(func() *behindItsFields { return new(behindItsFields) }, nil, options)
		first, second := &behindItsFields{value: 1}, &behindItsFields{value: 2}
		c := poolswap.NewEmptyContainer(pool)
		r := c.NewReader()
		defer r.Close()
		for _, current := range []*behindItsFields{first, second} {
			c.Update(current)
			for range 3 {
				if got := r.Load(); got != current {
					t.Fatalf("Load returned %p, want %p", got, current)
				}
			}
			var acquired uint64
			for k := range seam.Stripes() + 1 {
				counted, _ := (*refcount.Object)(unsafe.Pointer(&current.Ref)).CountsOf(k)
				acquired += counted
			}
			if acquired != 1 {
				t.Errorf("three Loads of object %d acquired it %d times, want once", current.value, acquired)
			}
		}
	})
}

func TestStatsTellWhichReadPathRunsAndWhy(t *testing.T) {
	const unknown = "methods (the assembly does not know this build of the Go runtime)"
	want := "assembly"
	switch {
	case buildflag.Tag("poolswapdebug"):
		want = "methods (build tag poolswapdebug)"
	case buildflag.Tag("purego"):
		want = "methods (build tag purego)"
	case buildflag.Tag("poolswapsched"):
		want = "methods (build tag poolswapsched)"
	case runtime.GOOS != "linux" || runtime.GOARCH != "amd64":
		want = "methods (no assembly for " + runtime.GOOS + "/" + runtime.GOARCH + ")"
	case buildflag.Race():
		want = "methods (race detector)"
	case !buildflag.Optimized():
		want = unknown
	}
	path := func() string { return newTablePool(poolswap.Options[table]{}).Stats().Reads.Path }
	if got := path(); got != want {
		t.Errorf("ReadPath is %q, want %q", got, want)
	}
	if want == "assembly" {
		restore := refcount.DisableAsm()
		if got := path(); got != unknown {
			t.Errorf("without the assembly ReadPath is %q, want %q", got, unknown)
		}
		restore()
		if got := path(); got != want {
			t.Errorf("with the assembly again ReadPath is %q, want %q", got, want)
		}
	}
}
