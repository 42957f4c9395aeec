package poolswap_test

import (
	"bytes"
	"testing"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/internal/test/pooltest"
)

func TestRecycledObjectsHaveNoReferences(t *testing.T) {
	pooltest.ForEachMode(t, func(t *testing.T, options poolswap.Options[table]) {
		pool := newTablePool(options)
		c := poolswap.NewContainer(pool, pool.Get())
		for round := range 50 {
			old := c.Acquire()
			c.Update(c.GetNew())
			c.Release(old)
			pooltest.Settled(t, pool, 0)
			if refs := pool.Refs(old); refs != 0 {
				t.Fatalf("round %d: %d references to an object in the pool", round, refs)
			}
		}
		if s := pool.Stats(); s.Created != 2 || s.Updates != 51 || s.Drained != 50 {
			t.Errorf("after 50 rounds: %+v", s)
		}
	})
}

func TestNilResetKeepsContent(t *testing.T) {
	pool := poolswap.NewPool(func() *table { return new(table) }, nil)
	c := poolswap.NewContainer(pool, &table{value: 1})
	c.Update(nil)
	if obj := c.GetNew(); obj.value != 1 {
		t.Errorf("value %d, want 1", obj.value)
	}
}

func TestRefsCountsOutstandingReferences(t *testing.T) {
	pooltest.ForEachMode(t, func(t *testing.T, options poolswap.Options[table]) {
		pool := newTablePool(options)
		obj := &table{value: 1}
		if refs := pool.Refs(obj); refs != 0 {
			t.Errorf("%d references to a literal", refs)
		}
		c := poolswap.NewContainer(pool, obj)
		for want := 1; want <= 3; want++ {
			c.Acquire()
			if refs := pool.Refs(obj); refs != want {
				t.Errorf("%d references, want %d", refs, want)
			}
		}
		c.Update(nil)
		for want := 2; want >= 0; want-- {
			c.Release(obj)
			if refs := pool.Refs(obj); refs != want {
				t.Errorf("%d references after the update, want %d", refs, want)
			}
		}
	})
}

func TestBoxMakesValuePoolable(t *testing.T) {
	pool := poolswap.NewPool(
		func() *poolswap.Box[bytes.Buffer] { return new(poolswap.Box[bytes.Buffer]) },
		func(b *poolswap.Box[bytes.Buffer]) bool { b.Value.Reset(); return true })
	c := poolswap.NewEmptyContainer(pool)
	for range 3 {
		next := c.GetNew()
		if next.Value.Len() != 0 {
			t.Errorf("the buffer holds %q", next.Value.String())
		}
		next.Value.WriteString("content")
		c.Update(next)
		c.WithAcquire(func(b *poolswap.Box[bytes.Buffer]) {
			if got := b.Value.String(); got != "content" {
				t.Errorf("read %q", got)
			}
		})
	}
	if s := pool.Stats(); s.Created != 2 {
		t.Errorf("%d objects for three updates", s.Created)
	}
}

// wide embeds its Ref through a Box, after other fields.
type wide struct {
	before [5]string
	poolswap.Box[int]
	after [5]string
}

func TestRefNeedNotComeFirst(t *testing.T) {
	pooltest.ForEachMode(t, func(t *testing.T, options poolswap.Options[table]) {
		pool := poolswap.NewPoolWithOptions(func() *wide { return new(wide) }, nil, poolswap.Options[wide]{Portable: options.Portable})
		words := [5]string{"a", "b", "c", "d", "e"}
		first := &wide{before: words, after: words}
		first.Value = 7
		c := poolswap.NewContainer(pool, first)
		r := c.NewReader()
		for range 3 {
			if obj := c.Acquire(); obj != first || r.Load() != first {
				t.Fatalf("Acquire returned %p, Load %p, want %p", obj, r.Load(), first)
			}
		}
		r.Close()
		for range 3 {
			c.Release(first)
		}
		c.Update(nil)
		if got := pool.Get(); got != first || got.before != words || got.after != words || got.Value != 7 {
			t.Errorf("Get returned %+v", got)
		}
	})
}
