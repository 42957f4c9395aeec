package refcount_test

import (
	"runtime"
	"testing"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/internal/refcount"
	"github.com/poolswap/poolswap/internal/test/pooltest"
)

// TestReadsReturnToTheAssembly: reads are slow only while a traced version is current,
// in every container of the pool.
func TestReadsReturnToTheAssembly(t *testing.T) {
	if !refcount.UsesAsm() {
		t.Skip("this build has no assembly")
	}
	pool := newTablePool(poolswap.Options[table]{})
	one, other := poolswap.NewContainer(pool, &table{}), poolswap.NewContainer(pool, &table{})
	check := func(when string, want bool) {
		t.Helper()
		for _, c := range []*poolswap.Container[table, *table]{one, other} {
			if fast := slotOf(c).ReadsFast(); fast != want {
				t.Errorf("%s: a container reads through the assembly: %t", when, fast)
			}
		}
	}
	check("before", true)
	pool.Trace(1)
	check("asked for", true)
	traced := one.GetNew()
	one.Update(traced)
	check("a traced version is current", false)
	if made := poolswap.NewContainer(pool, &table{}); slotOf(made).ReadsFast() {
		t.Error("a container that is made then reads through the assembly")
	}
	held := one.Acquire()
	other.Update(other.GetNew())
	check("another is published elsewhere", false)
	one.Update(one.GetNew())
	check("it is replaced and still held", true)
	one.Release(held)
	check("it has drained", true)
	for range 2 {
		one.Update(one.GetNew())
	}
	pooltest.Eventually(t, "its object is current again", func() bool {
		one.Update(one.GetNew())
		current := one.Acquire()
		defer one.Release(current)
		return current == traced
	})
	pool.Trace(1)
	for range 2 {
		other.Update(other.GetNew())
	}
	check("it is not traced any more, and one was elsewhere", true)

	pool.Trace(-1)
	one.Update(one.GetNew())
	other.Update(other.GetNew())
	one.Update(nil)
	check("one of two is replaced", false)
	other.Update(nil)
	check("both are", true)
	pool.Trace(0)
	current := &table{}
	one.Update(current)
	pool.Trace(1)
	pooltest.PanicOf(t, func() { one.Update(current) })
	check("an Update was refused", true)

	drop(pool)
	pooltest.Eventually(t, "the dropped container is collected", func() bool {
		runtime.GC()
		return slotOf(one).ReadsFast()
	})
	check("a container with a traced version was collected", true)
}

// drop makes a container with a traced version, and drops it.
//
//go:noinline
func drop(pool *poolswap.Pool[table, *table]) {
	pool.Trace(1)
	poolswap.NewContainer(pool, &table{})
}

func TestNoRecordOutlivesItsVersion(t *testing.T) {
	pool := newTablePool(poolswap.Options[table]{})
	pool.Trace(-1)
	c := poolswap.NewContainer(pool, &table{})
	for range 10 {
		c.Release(c.Acquire())
		c.Update(c.GetNew())
	}
	if n := poolOf(pool).Traced(); n != 1 {
		t.Errorf("records of %d versions, want those of the current one", n)
	}
	c.Update(nil)
	if n := poolOf(pool).Traced(); n != 0 {
		t.Errorf("records of %d versions, and none is held", n)
	}
}
