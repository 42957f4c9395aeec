package poolswap_test

import (
	"fmt"
	"math"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/internal/test/pooltest"
)

// counting is a pool that counts the calls of its factory.
type counting struct {
	*poolswap.Pool[table, *table]
	made int // by Get, which only one goroutine calls
}

func newCounting(options poolswap.Options[table]) *counting {
	p := &counting{}
	p.Pool = poolswap.NewPoolWithOptions(
		func() *table { p.made++; return new(table) },
		func(obj *table) bool { obj.value = 0; return true },
		options)
	return p
}

func (p *counting) getMany(n int) (objs []*table) {
	for range n {
		objs = append(objs, p.Get())
	}
	return objs
}

func (p *counting) releaseAll(objs []*table) {
	for _, obj := range objs {
		p.Release(obj)
	}
}

func TestSparesAreLastInFirstOut(t *testing.T) {
	pool := newCounting(poolswap.Options[table]{Spares: 3})
	objs := pool.getMany(3)
	pool.releaseAll(objs)
	for i := len(objs) - 1; i >= 0; i-- {
		if obj := pool.Get(); obj != objs[i] {
			t.Errorf("got %p, want %p, which was released as number %d", obj, objs[i], i+1)
		}
	}
}

func TestSparesAreBounded(t *testing.T) {
	for _, test := range []struct{ option, want int }{
		{poolswap.NoSpares, 0},
		{1, 1},
		{2, 2},
		{5, 5},
	} {
		t.Run(fmt.Sprintf("with Spares %d the pool keeps %d", test.option, test.want), func(t *testing.T) {
			var discarded []*table
			pool := newCounting(poolswap.Options[table]{
				Spares:  test.option,
				Discard: func(obj *table) { discarded = append(discarded, obj) },
			})
			objs := pool.getMany(8)
			pool.releaseAll(objs)
			s := pool.Stats()
			if s.Spares != test.want || s.SpareLimit != test.want || s.Live != test.want || len(discarded) != 8-test.want {
				t.Errorf("%d discarded, %+v", len(discarded), s)
			}
			for i, obj := range discarded { // the first to be released are the spares
				if obj != objs[test.want+i] {
					t.Errorf("discard %d received the wrong object", i)
				}
			}
		})
	}
}

func TestOverflowKeepsObjectsUntilCollected(t *testing.T) {
	pool := newCounting(poolswap.Options[table]{Spares: 1})
	pool.releaseAll(pool.getMany(8))
	if s := pool.Stats(); s.Live != 8 || s.Spares != 1 || s.Discarded != 0 {
		t.Errorf("before a collection: %+v", s)
	}
	pooltest.Eventually(t, "the overflow is collected", func() bool {
		runtime.GC()
		return pool.Stats().Live == 1
	})
	if s := pool.Stats(); s.Spares != 1 || s.Collected != 7 || s.Leaked != 0 {
		t.Errorf("after collections: %+v", s)
	}
}

func TestNoSparesKeepsNothing(t *testing.T) {
	pool := newCounting(poolswap.Options[table]{Spares: poolswap.NoSpares})
	pool.releaseAll(pool.getMany(3))
	if s := pool.Stats(); s.Live != 0 || s.Discarded != 3 {
		t.Errorf("after three releases: %+v", s)
	}
}

// TestNoSparesReusesNothing has readers drain the objects, so that they wait for
// the sweeper on the dirty list. Get must not take one from there.
func TestNoSparesReusesNothing(t *testing.T) {
	pooltest.ForEachMode(t, func(t *testing.T, options poolswap.Options[table]) {
		options.Spares = poolswap.NoSpares
		var open, closed atomic.Int64
		options.Discard = func(obj *table) {
			if obj.value != 0 {
				closed.Add(1)
			}
		}
		pool := poolswap.NewPoolWithOptions(func() *table { return new(table) }, nil, options)
		c := poolswap.NewEmptyContainer(pool)
		for range 500 {
			next := c.GetNew()
			if next.value != 0 {
				t.Fatal("Get returned an object that was used before")
			}
			next.value = 1
			open.Add(1)
			reader := c.Acquire()
			c.Update(next)
			c.Release(reader)
		}
		c.Update(nil)
		pooltest.Settled(t, pool, 0)
		if open.Load() != closed.Load() {
			t.Errorf("%d objects opened, %d closed", open.Load(), closed.Load())
		}
	})
}

// TestMoreFreeObjectsThanSpares is for the race detector.
func TestMoreFreeObjectsThanSpares(t *testing.T) {
	const spares = 2
	pool := counting{Pool: newTablePool(poolswap.Options[table]{Spares: spares})}
	var writers sync.WaitGroup
	for range 2 {
		writers.Go(func() {
			for range 500 {
				pool.releaseAll(pool.getMany(4))
			}
		})
	}
	writers.Wait()
	if s := pool.Stats(); s.Spares != spares {
		t.Errorf("after all releases: %+v", s)
	}
}

func TestTrimDropsSpares(t *testing.T) {
	for _, withHook := range []bool{false, true} {
		t.Run(fmt.Sprintf("with a discard hook: %t", withHook), func(t *testing.T) {
			discarded := 0
			options := poolswap.Options[table]{Spares: 4}
			if withHook {
				options.Discard = func(*table) { discarded++ }
			}
			pool := newCounting(options)
			c := poolswap.NewContainer(pool.Pool, &table{value: 1})
			held := c.Acquire()
			c.Update(&table{value: 2})
			inHand := pool.Get()
			pool.releaseAll(pool.getMany(3))
			pool.Trim()
			if s := pool.Stats(); s.Spares != 0 || s.Discarded != 3 || s.Current != 1 || s.Retired != 1 || s.Live != 3 {
				t.Errorf("%+v", s)
			}
			if withHook && discarded != 3 {
				t.Errorf("the hook was called %d times", discarded)
			}
			if held.value != 1 {
				t.Error("Trim changed an object that is held")
			}
			c.Release(held)
			pool.Release(inHand)
			if s := pooltest.Settled(t, pool.Pool, 0); s.Spares != 2 {
				t.Errorf("the pool does not keep spares after Trim: %+v", s)
			}
		})
	}
}

// TestTrimDropsOverflow: under the race detector a sync.Pool drops some objects, so
// not all of them are there.
func TestTrimDropsOverflow(t *testing.T) {
	const spares, objects = 1, 40
	pool := newCounting(poolswap.Options[table]{Spares: spares})
	pool.releaseAll(pool.getMany(objects))
	if s := pool.Stats(); s.Spares != spares || s.Discarded != 0 {
		t.Fatalf("nothing went to the overflow: %+v", s)
	}
	pool.Trim()
	if s := pool.Stats(); s.Discarded <= spares {
		t.Errorf("only the spares were dropped: %+v", s)
	}
}

func TestDiscardedObjectIsPublishedAgain(t *testing.T) {
	pooltest.ForEachMode(t, func(t *testing.T, options poolswap.Options[table]) {
		pool := newTablePool(options)
		c := poolswap.NewContainer(pool, &table{value: 1})
		obj := pool.Get()
		pool.Release(obj)
		pool.Trim()
		pooltest.WantPanic(t, "poolswap: Release of a *poolswap_test.table that the pool has discarded (released twice?) [generation 0, acquired 0 times, released 0 times]",
			func() { pool.Release(obj) })
		obj.value = 3
		c.Update(obj)
		c.WithAcquire(func(got *table) {
			if got != obj || got.value != 3 {
				t.Errorf("the container serves %p, value %d", got, got.value)
			}
		})
		if s := pooltest.Settled(t, pool, 0); s.Discarded != 1 || s.Adopted != 2 || s.Created != 1 || s.Live != 2 {
			t.Errorf("%+v", s)
		}
	})
}

// TestWarmPoolCallsNoFactory runs 0 to 3 garbage collections between two
// updates. Either the writer drains the old object, or a reader does and the
// writer waits for the sweeper.
func TestWarmPoolCallsNoFactory(t *testing.T) {
	updates := 100
	if testing.Short() { // a collection takes long under emulation
		updates = 10
	}
	for collections := range 4 {
		for _, byReader := range []bool{false, true} {
			pool := newCounting(poolswap.Options[table]{})
			c := poolswap.NewContainer(pool.Pool, pool.Get())
			update := func() {
				var old *table
				if byReader {
					old = c.Acquire()
				}
				c.Update(c.GetNew())
				if byReader {
					c.Release(old)
					pooltest.Settled(t, pool.Pool, 0)
				}
			}
			update() // makes the second object
			warm := pool.made
			for range updates {
				update()
				for range collections {
					runtime.GC()
				}
			}
			if calls := pool.made - warm; calls != 0 {
				t.Errorf("%d collections between updates, drained by a reader: %t: %d factory calls in %d updates", collections, byReader, calls, updates)
			}
		}
	}
}

// TestFastWriterNeedsThreeObjects does not wait for the sweeper. One object is
// current, and the sweeper may own another, so the third is free and Get must
// find it.
func TestFastWriterNeedsThreeObjects(t *testing.T) {
	pooltest.ForEachMode(t, func(t *testing.T, options poolswap.Options[table]) {
		pool := newCounting(options)
		c := poolswap.NewContainer(pool.Pool, pool.Get())
		for range 50_000 {
			old := c.Acquire()
			c.Update(c.GetNew())
			c.Release(old)
		}
		if pool.made > 3 {
			t.Errorf("%d objects were made", pool.made)
		}
	})
}

// TestManySpares: a large limit takes no memory for spares that are not there.
func TestManySpares(t *testing.T) {
	const all = math.MaxInt
	pool := newCounting(poolswap.Options[table]{Spares: all, Discard: func(*table) { t.Error("a spare was discarded") }})
	pool.releaseAll(pool.getMany(1000))
	if s := pool.Stats(); s.SpareLimit != all || s.Spares != 1000 {
		t.Errorf("%+v", s)
	}
}
