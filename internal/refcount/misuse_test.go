package refcount_test

import (
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/internal/test/pooltest"
)

// scene has the containers that a misuse needs: two that share a pool, and a
// stranger with another pool.
type scene struct {
	t        *testing.T
	pool     *poolswap.Pool[table, *table]
	c, other *poolswap.Container[table, *table]
	stranger *poolswap.Container[table, *table]
	held     []*table // by readers: an object that is collected is not retired any more
}

func newScene(t *testing.T, options poolswap.Options[table]) *scene {
	pool := newTablePool(options)
	return &scene{
		t:        t,
		pool:     pool,
		c:        poolswap.NewContainer(pool, &table{value: 1}),
		other:    poolswap.NewContainer(pool, &table{value: 2}),
		stranger: newTableContainer(options),
	}
}

// replaced returns an object that was replaced while this many readers hold it.
func (s *scene) replaced(readers int) *table {
	obj := s.c.GetNew()
	s.c.Update(obj)
	for range readers {
		s.c.Acquire()
	}
	next := s.c.GetNew()
	next.value = 1
	s.c.Update(next)
	s.held = append(s.held, obj)
	return obj
}

// serves fails the test unless all containers read, update and recycle as
// before the misuse. The misuse may have left inHand objects with its caller
// and retired ones with readers.
func (s *scene) serves(inHand, retired int) {
	s.t.Helper()
	for i, c := range []*poolswap.Container[table, *table]{s.c, s.other, s.stranger} {
		obj := c.Acquire()
		if obj == nil || obj.value == 0 {
			s.t.Fatalf("container %d serves %+v", i, obj)
		}
		next := c.GetNew()
		next.value = 9
		c.Update(next)
		if obj.value == 0 {
			s.t.Errorf("container %d: the object was recycled under its reader", i)
		}
		c.Release(obj)
		if got := c.Acquire(); got != next {
			s.t.Errorf("container %d serves %p after an update with %p", i, got, next)
		}
		c.Release(next)
	}
	stats := pooltest.Settled(s.t, s.pool, inHand)
	if stats.Current != 2 || stats.Retired != retired {
		s.t.Errorf("%d objects are current and %d retired, want 2 and %d: %+v", stats.Current, stats.Retired, retired, stats)
	}
}

// objectMisuses are the misuses of an object and the text of each panic.
// prepare returns the call that must panic. Just before that call the test
// acquires and releases the current object of the first container, which shows
// in its counts.
var objectMisuses = []struct {
	name     string
	prepare  func(s *scene) func()
	want     string // follows "poolswap: "
	inHand   int    // objects that the misuse leaves with its caller
	retired  int    // objects that the misuse leaves with readers
	lost     uint64 // objects that the misuse costs
	replaces bool   // the call is an Update that publishes before it panics
}{
	{
		name: "Release of an object that is in the pool",
		prepare: func(s *scene) func() {
			obj := s.replaced(1)
			s.c.Release(obj)
			return func() { s.c.Release(obj) }
		},
		want: "Release of a *refcount_test.table that is in the pool (released twice?) [generation 0, acquired 1 times, released 1 times]",
	},
	{
		name: "Release of an object that is in the pool for the third time",
		prepare: func(s *scene) func() {
			obj := s.pool.Get()
			for range 2 {
				s.pool.Release(obj)
				s.pool.Get() // the same object
			}
			s.pool.Release(obj)
			return func() { s.pool.Release(obj) }
		},
		want: "Release of a *refcount_test.table that is in the pool (released twice?) [generation 2, acquired 0 times, released 0 times]",
	},
	{
		name: "Release of an object that was released unpublished",
		prepare: func(s *scene) func() {
			obj := s.pool.Get()
			s.pool.Release(obj)
			return func() { s.pool.Release(obj) }
		},
		want: "Release of a *refcount_test.table that is in the pool (released twice?) [generation 0, acquired 0 times, released 0 times]",
	},
	{
		name: "two Releases too many, detected by an Update that drains the object",
		prepare: func(s *scene) func() {
			obj := s.c.Acquire()
			s.c.Release(obj)
			s.c.Release(obj)
			s.c.Release(obj)
			next := s.c.GetNew()
			next.value = 1
			return func() { s.c.Update(next) }
		},
		want: "Release of a *refcount_test.table more often than it was acquired: 2 too many (released twice, released after Update, or Release of a Reader's object?) [generation 0, acquired 2 times, released 4 times]",
		lost: 1, replaces: true,
	},
	{
		name: "one Release too many, detected by a late Release",
		prepare: func(s *scene) func() {
			obj := s.replaced(1)
			objectOf(obj).CountRelease()
			return func() { s.c.Release(obj) }
		},
		want: "Release of a *refcount_test.table more often than it was acquired: 1 too many (released twice, released after Update, or Release of a Reader's object?) [generation 0, acquired 1 times, released 2 times]",
		lost: 1,
	},
	{
		name: "Release of an object of another pool",
		prepare: func(s *scene) func() {
			obj := s.stranger.Acquire()
			s.stranger.Release(obj)
			return func() { s.c.Release(obj) }
		},
		want: "Release of a *refcount_test.table of another pool (a container takes and gives back objects of the pool that it was made with) [generation 0, acquired 1 times, released 1 times]",
	},
	{
		name: "Update of an object of another pool",
		prepare: func(s *scene) func() {
			obj := s.stranger.Acquire()
			s.stranger.Release(obj)
			return func() { s.c.Update(obj) }
		},
		want: "Update of a *refcount_test.table of another pool (a container takes and gives back objects of the pool that it was made with) [generation 0, acquired 1 times, released 1 times]",
	},
	{
		name:    "Refs of an object of another pool",
		prepare: func(s *scene) func() { return func() { s.pool.Refs(s.stranger.Acquire()) } },
		want:    "Refs of a *refcount_test.table of another pool (a container takes and gives back objects of the pool that it was made with) [generation 0, acquired 1 times, released 0 times]",
	},
	{
		name:    "Release of a literal that was never published",
		prepare: func(s *scene) func() { return func() { s.c.Release(&table{value: 3}) } },
		want:    "Release of a *refcount_test.table that was never published (a literal? only Get, Acquire and Update make an object the pool's), or whose Ref was overwritten (by *t = T{…}?)",
	},
	{
		name: "Update of the object that is current here",
		prepare: func(s *scene) func() {
			obj := s.c.Acquire()
			s.c.Release(obj)
			return func() { s.c.Update(obj) }
		},
		want: "Update of a *refcount_test.table that is current already (updated twice?) [generation 0, acquired 2 times, released 2 times]",
	},
	{
		name: "Update of an object that is current in another container",
		prepare: func(s *scene) func() {
			obj := s.other.Acquire()
			s.other.Release(obj)
			return func() { s.c.Update(obj) }
		},
		want: "Update of a *refcount_test.table that is current in another container, or being published by another goroutine [generation 0, acquired 1 times, released 1 times]",
	},
	{
		name: "Update of an object that is in the pool",
		prepare: func(s *scene) func() {
			obj := s.c.GetNew()
			s.c.Release(obj)
			return func() { s.c.Update(obj) }
		},
		want: "Update of a *refcount_test.table that is in the pool (released before the update?) [generation 0, acquired 0 times, released 0 times]",
	},
	{
		name: "Update of an object that was replaced and is still held",
		prepare: func(s *scene) func() {
			obj := s.replaced(2)
			s.c.Release(obj)
			return func() { s.c.Update(obj) }
		},
		want:    "Update of a *refcount_test.table that was replaced and is still held by readers (get a new one from the pool) [generation 0, acquired 2 times, released 1 times]",
		retired: 1,
	},
	{
		name: "Update of a lost object",
		prepare: func(s *scene) func() {
			obj := s.replaced(1)
			objectOf(obj).CountRelease()
			_ = pooltest.PanicOf(s.t, func() { s.c.Release(obj) })
			return func() { s.c.Update(obj) }
		},
		want: "Update of a *refcount_test.table that the pool gave up after misuse, a panic in reset, or a failed fence [generation 0, acquired 1 times, released 2 times]",
		lost: 1,
	},
	{
		name: "Update of a copy",
		prepare: func(s *scene) func() {
			obj := s.c.GetNew()
			return func() { s.c.Update(pooltest.CopyOf(obj)) }
		},
		want:   "Update of a copy of a *refcount_test.table (the value was copied after its first use; use the pointer that Get or Acquire returned)",
		inHand: 1,
	},
	{
		name: "Release of a copy of an object that was replaced",
		prepare: func(s *scene) func() {
			dup := pooltest.CopyOf(s.replaced(1))
			return func() { s.c.Release(dup) }
		},
		want:    "Release of a copy of a *refcount_test.table (the value was copied after its first use; use the pointer that Get or Acquire returned)",
		retired: 1,
	},
	{
		name: "Refs of a copy",
		prepare: func(s *scene) func() {
			obj := s.pool.Get()
			return func() { s.pool.Refs(pooltest.CopyOf(obj)) }
		},
		want:   "Refs of a copy of a *refcount_test.table (the value was copied after its first use; use the pointer that Get or Acquire returned)",
		inHand: 1,
	},
}

func TestMisuseOfAnObjectIsRefusedAndHarmsNothingElse(t *testing.T) {
	pooltest.ForEachMode(t, func(t *testing.T, options poolswap.Options[table]) {
		options.Discard = func(*table) {} // keeps objects out of the overflow
		for _, misuse := range objectMisuses {
			t.Run(misuse.name, func(t *testing.T) {
				s := newScene(t, options)
				call := misuse.prepare(s)
				before, was := s.pool.Stats(), s.c.Acquire()
				s.c.Release(was)
				pooltest.WantPanic(t, "poolswap: "+misuse.want, call)

				now := s.c.Acquire()
				s.c.Release(now)
				if replaced := now != was; replaced != misuse.replaces {
					t.Errorf("the current object was replaced: %t, want %t", replaced, misuse.replaces)
				}
				after := s.pool.Stats()
				if after.Lost != misuse.lost {
					t.Errorf("%d objects lost, want %d", after.Lost, misuse.lost)
				}
				if !misuse.replaces && after.Updates != before.Updates {
					t.Errorf("%d updates after the refused one, %d before", after.Updates, before.Updates)
				}
				s.serves(misuse.inHand, misuse.retired)
				runtime.KeepAlive(s.held)
				runtime.KeepAlive(call) // it has the objects in hand
			})
		}
	})
}

func TestACopiedContainerOrPoolIsRefused(t *testing.T) {
	pool := newTablePool(poolswap.Options[table]{})
	c := poolswap.NewContainer(pool, &table{value: 1})
	dup, dupPool := pooltest.CopyOf(c), pooltest.CopyOf(pool)
	for op, call := range map[string]func(){
		"Update of a copy of a Container":    func() { dup.Update(&table{}) },
		"GetNew of a copy of a Container":    func() { dup.GetNew() },
		"NewReader of a copy of a Container": func() { dup.NewReader() },
		"Acquire of a copy of a Container":   func() { dup.Acquire() },
		"Get of a copy of a Pool":            func() { dupPool.Get() },
		"TryGet of a copy of a Pool":         func() { _, _ = dupPool.TryGet() },
		"Release of a copy of a Pool":        func() { dupPool.Release(&table{}) },
		"Trim of a copy of a Pool":           func() { dupPool.Trim() },
		"Refs of a copy of a Pool":           func() { dupPool.Refs(&table{}) },
		"Stats of a copy of a Pool":          func() { dupPool.Stats() },
		"NewContainer of a copy of a Pool":   func() { poolswap.NewContainer(dupPool, &table{}) },
	} {
		maker := "NewPool"
		if strings.HasSuffix(op, "Container") {
			maker = "NewContainer or NewEmptyContainer"
		}
		pooltest.WantPanic(t, "poolswap: "+op+" (use the pointer that "+maker+" returned)", call)
	}
	c.WithAcquire(func(obj *table) {
		if obj.value != 1 {
			t.Errorf("the original serves %+v", obj)
		}
	})
}

// TestAnObjectInTwoContainersIsRetiredOnce: a second retirement would let Get
// return one object to two writers.
func TestAnObjectInTwoContainersIsRetiredOnce(t *testing.T) {
	pooltest.ForEachMode(t, func(t *testing.T, options poolswap.Options[table]) {
		pool := newTablePool(options)
		obj := &table{value: 1}
		c := poolswap.NewContainer(pool, obj)
		forged := poolswap.NewEmptyContainer(pool)
		slotOf(forged).Forge(objectOf(obj))

		c.Update(&table{value: 2}) // drains obj
		text := pooltest.PanicOf(t, func() { forged.Update(&table{value: 3}) })
		const want = "poolswap: Update of a *refcount_test.table that was current here and is not any more (a copied Container?)"
		if !strings.HasPrefix(text, want) {
			t.Errorf("panic text\n got: %s\nwant: %s …", text, want)
		}
		if s := pool.Stats(); s.Current != 2 || s.Retired != 0 {
			t.Errorf("%d current, %d retired, want 2 and 0", s.Current, s.Retired)
		}
		runtime.KeepAlive(c) // and the current object in it
		runtime.KeepAlive(forged)
		if err := pool.Drain(endedContext()); err != nil {
			t.Error(err)
		}
		if first, second := pool.Get(), pool.Get(); first != obj || second == obj {
			t.Errorf("Get returned %p and then %p, want %p once", first, second, obj)
		}
	})
}

// TestOneOfTwoUpdatesWithTheSameLiteralIsRefused also shows, under the race
// detector, that the refusal itself is free of races.
func TestOneOfTwoUpdatesWithTheSameLiteralIsRefused(t *testing.T) {
	pooltest.ForEachMode(t, func(t *testing.T, options poolswap.Options[table]) {
		c := newTableContainer(options)
		for range 300 {
			literal := &table{value: 7}
			var refused [2]any
			var both sync.WaitGroup
			for i := range refused {
				both.Go(func() {
					defer func() { refused[i] = recover() }()
					c.Update(literal)
				})
			}
			both.Wait()
			if (refused[0] == nil) == (refused[1] == nil) {
				t.Fatalf("the two updates panicked with %v and %v", refused[0], refused[1])
			}
		}
	})
}
