package poolswap_test

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/internal/test/pooltest"
)

// followsMost is the documented bound of the default.
func followsMost() int { return max(16, 2*runtime.GOMAXPROCS(0)) }

// followsGets makes n Gets one after the other, so that one object is being
// filled at a time.
func followsGets(pool *poolswap.Pool[table, *table], n int) {
	for range n {
		pool.Release(pool.Get())
	}
}

// followsTogether has n goroutines get an object each, and publish it once all
// have one.
func followsTogether(c *poolswap.Container[table, *table], n int) {
	var writers, filling sync.WaitGroup
	filling.Add(n)
	for range n {
		writers.Go(func() {
			next := c.GetNew()
			filling.Done()
			filling.Wait()
			c.Update(next)
		})
	}
	writers.Wait()
}

// TestWarmWritersCallNoFactory empties the sync.Pool behind the spares after each
// round.
func TestWarmWritersCallNoFactory(t *testing.T) {
	pooltest.ForEachMode(t, func(t *testing.T, options poolswap.Options[table]) {
		const writers = 10
		var made atomic.Int64
		pool := poolswap.NewPoolWithOptions(func() *table { made.Add(1); return new(table) }, nil, options)
		c := poolswap.NewEmptyContainer(pool)
		followsTogether(c, writers)
		followsTogether(c, writers)
		warm := made.Load()
		if warm != writers+1 { // one is current
			t.Errorf("the factory made %d objects for %d writers", warm, writers)
		}
		for range 30 {
			runtime.GC()
			runtime.GC()
			followsTogether(c, writers)
		}
		if calls := made.Load() - warm; calls != 0 {
			t.Errorf("%d factory calls once warm", calls)
		}
		if s := pool.Stats(); s.SpareLimit != writers || s.Spares != writers || s.Live != writers+1 {
			t.Errorf("in the end: %+v", s)
		}
	})
}

func TestOneWriterCostsTwoObjects(t *testing.T) {
	pooltest.ForEachMode(t, func(t *testing.T, options poolswap.Options[table]) {
		pool := newCounting(options)
		c := poolswap.NewContainer(pool.Pool, pool.Get())
		for range 1000 {
			c.Update(c.GetNew())
		}
		if s := pool.Stats(); pool.made != 2 || s.Live != 2 || s.SpareLimit != poolswap.DefaultSpares {
			t.Errorf("%d objects were made, %+v", pool.made, s)
		}
	})
}

// TestDefaultSparesFallAfterWriters: after one round of Gets the default is two, and
// the surplus is discarded once, with no lock held.
func TestDefaultSparesFallAfterWriters(t *testing.T) {
	for _, byReader := range []bool{false, true} {
		pooltest.ForEachMode(t, func(t *testing.T, options poolswap.Options[table]) {
			const writers, round = 10, 128
			var pool *poolswap.Pool[table, *table]
			var discarded sync.Map
			options.Discard = func(obj *table) {
				if _, twice := discarded.LoadOrStore(obj, true); twice {
					t.Error("an object was discarded twice")
				}
				pool.Stats() // takes every lock
			}
			pool = newTablePool(options)
			c := poolswap.NewEmptyContainer(pool)
			followsTogether(c, writers)
			gets := 0
			for ; pool.Stats().SpareLimit == writers && gets <= 2*round; gets++ {
				c.Update(c.GetNew())
			}
			if gets < round || gets > 2*round {
				t.Errorf("the limit fell after %d Gets, want %d to %d", gets, round, 2*round)
			}
			for range 4 { // the first has let the limit fall, and the rest is old
				old := c.Acquire()
				if !byReader {
					c.Release(old)
				}
				c.Update(c.GetNew())
				if byReader {
					c.Release(old)
				}
				pooltest.Settled(t, pool, 0)
			}
			s := pool.Stats()
			if s.SpareLimit != poolswap.DefaultSpares || s.Spares != poolswap.DefaultSpares || s.Live != poolswap.DefaultSpares+1 {
				t.Errorf("once the writers went: %+v", s)
			}
			if want := writers - s.Live; int(s.Discarded) != want {
				t.Errorf("%d objects were discarded, want %d", s.Discarded, want)
			}
		})
	}
}

// TestDefaultSparesFallAfterRound: a peak at the last Get of a round counts for the
// next round, one at the first Get for two rounds.
func TestDefaultSparesFallAfterRound(t *testing.T) {
	const round, together = 128, poolswap.DefaultSpares + 1
	for _, peak := range []struct{ at, remembered int }{{round, round}, {round + 1, 2*round - 1}} {
		pool := newTablePool(poolswap.Options[table]{})
		c := poolswap.NewEmptyContainer(pool)
		for range peak.at - together {
			c.Update(c.GetNew())
		}
		var filled []*table
		for range together {
			filled = append(filled, c.GetNew())
		}
		for _, obj := range filled {
			c.Update(obj)
		}
		gets := 0
		for ; pool.Stats().SpareLimit == together && gets <= 3*round; gets++ {
			c.Update(c.GetNew())
		}
		if gets != peak.remembered+1 {
			t.Errorf("after a peak at Get %d, Get %d after it let the limit fall, want %d", peak.at, gets, peak.remembered+1)
		}
	}
}

// TestDefaultSparesStayUnderWork: the limit does not fall between rounds of Gets.
func TestDefaultSparesStayUnderWork(t *testing.T) {
	const writers = 5
	pool := newCounting(poolswap.Options[table]{})
	for range 1000 {
		pool.releaseAll(pool.getMany(writers))
		if s := pool.Stats(); s.SpareLimit != writers || s.Discarded != 0 {
			t.Fatalf("%+v", s)
		}
	}
}

func TestDefaultSparesAreBounded(t *testing.T) {
	for _, procs := range []int{1, 20} {
		was := runtime.GOMAXPROCS(procs)
		pool := newCounting(poolswap.Options[table]{Discard: func(*table) {}})
		pool.releaseAll(pool.getMany(200))
		if s := pool.Stats(); s.SpareLimit != followsMost() || s.Spares != followsMost() {
			t.Errorf("GOMAXPROCS %d: want %d, %+v", procs, followsMost(), s)
		}
		runtime.GOMAXPROCS(was)
	}
}

func TestExplicitSparesStay(t *testing.T) {
	for _, limit := range []int{1, poolswap.DefaultSpares, 40} {
		pool := newCounting(poolswap.Options[table]{Spares: limit})
		for range 100 {
			pool.releaseAll(pool.getMany(10))
		}
		if s := pool.Stats(); s.SpareLimit != limit || s.Spares != min(limit, 10) {
			t.Errorf("with Spares %d: %+v", limit, s)
		}
	}
}

// TestDefaultSparesForgetLostObjects: the owner forgot them, and the collector took
// them.
func TestDefaultSparesForgetLostObjects(t *testing.T) {
	const lost = 10
	pool := newCounting(poolswap.Options[table]{})
	pool.getMany(lost)
	if s := pool.Stats(); s.SpareLimit != lost {
		t.Fatalf("with %d objects out: %+v", lost, s)
	}
	pooltest.Eventually(t, "the objects are collected", func() bool {
		runtime.GC()
		return pool.Stats().Collected == lost
	})
	followsGets(pool.Pool, 256)
	if s := pool.Stats(); s.SpareLimit != poolswap.DefaultSpares {
		t.Errorf("once they were collected: %+v", s)
	}
}

// TestEachWayOutEndsFill counts the fills after objects went each way many times: a
// count that drifts would show.
func TestEachWayOutEndsFill(t *testing.T) {
	pool := newCounting(poolswap.Options[table]{})
	c := poolswap.NewEmptyContainer(pool.Pool)
	for _, way := range []struct {
		name string
		out  func()
	}{
		{"published", func() { c.Update(c.GetNew()) }},
		{"given back", func() { pool.Release(pool.Get()) }},
		{"made and given back", func() { pool.Trim(); pool.Release(pool.Get()) }},
		{"filled by Publish", func() {
			if _, err := c.Publish(t.Context(), func(next, current *table) error { return nil }); err != nil {
				t.Fatal(err)
			}
		}},
		{"filled in vain", func() {
			if _, err := c.Publish(t.Context(), func(next, current *table) error { return errHook }); err == nil {
				t.Fatal("published")
			}
		}},
		{"a literal", func() { c.Update(&table{}) }},
		{"brought back", func() {
			obj := pool.Get()
			pool.Release(obj)
			pool.Trim()
			c.Update(obj)
		}},
		{"reset after a reader", func() {
			old := c.Acquire()
			c.Update(c.GetNew())
			c.Release(old)
			pooltest.Eventually(t, "it is reset", func() bool { s := pool.Stats(); return s.PendingReset == 0 && s.Resetting == 0 })
		}},
	} {
		t.Run(way.name, func(t *testing.T) {
			for range 300 {
				way.out()
			}
			followsGets(pool.Pool, 256)
			if s := pool.Stats(); s.SpareLimit != poolswap.DefaultSpares {
				t.Errorf("one at a time: %+v", s)
			}
			objs := pool.getMany(4)
			if s := pool.Stats(); s.SpareLimit != len(objs) {
				t.Errorf("with %d at a time: %+v", len(objs), s)
			}
			pool.releaseAll(objs)
		})
	}
}

// TestDefaultSparesCountAllContainers nests three fills.
func TestDefaultSparesCountAllContainers(t *testing.T) {
	pool := newTablePool(poolswap.Options[table]{})
	var nested func(depth int)
	nested = func(depth int) {
		if depth == 0 {
			return
		}
		c := poolswap.NewEmptyContainer(pool)
		_, err := c.Publish(t.Context(), func(next, current *table) error { nested(depth - 1); return nil })
		if err != nil {
			t.Error(err)
		}
	}
	nested(3)
	if s := pool.Stats(); s.SpareLimit != 3 {
		t.Errorf("after three fills at a time: %+v", s)
	}
}

// TestPeakIsTrimmedAndClosed: the raised limit keeps nothing from Trim and Close.
func TestPeakIsTrimmedAndClosed(t *testing.T) {
	discarded := 0
	pool := newCounting(poolswap.Options[table]{MaxLive: 10, Discard: func(*table) { discarded++ }})
	objs := pool.getMany(10)
	if _, err := pool.TryGet(); err != poolswap.ErrLimit {
		t.Errorf("at the limit: %v", err)
	}
	pool.releaseAll(objs)
	if err := pool.Drain(t.Context()); err != nil {
		t.Error(err)
	}
	if s := pool.Stats(); s.Spares != 10 || discarded != 0 {
		t.Errorf("after the peak %d were discarded, %+v", discarded, s)
	}
	pool.Trim()
	if s := pool.Stats(); s.Spares != 0 || discarded != 10 {
		t.Errorf("after Trim %d were discarded, %+v", discarded, s)
	}
	pool.releaseAll(pool.getMany(5))
	if err := pool.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if s := pool.Stats(); s.Live != 0 || discarded != 15 {
		t.Errorf("after Close %d were discarded, %+v", discarded, s)
	}
}
