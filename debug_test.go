package poolswap_test

import (
	"strings"
	"testing"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/internal/test/buildflag"
	"github.com/poolswap/poolswap/internal/test/pooltest"
)

// debugBuild says whether these tests run with the tag poolswapdebug.
var debugBuild = buildflag.Tag("poolswapdebug")

// TestPoison: what a reader kept beyond its Release shows the poison in a debug build.
// The writer after it finds the object as reset left it.
func TestPoison(t *testing.T) {
	type rows struct {
		poolswap.Ref
		all []int
	}
	refused := false
	pool := poolswap.NewPoolWithOptions(
		func() *rows { return new(rows) },
		func(r *rows) bool {
			r.all = r.all[:0]
			return !refused
		},
		poolswap.Options[rows]{Poison: func(r *rows) {
			if refused {
				t.Error("an object that reset refused is poisoned")
			}
			all := r.all[:cap(r.all)]
			for i := range all {
				all[i] = -1
			}
		}})
	c := poolswap.NewContainer(pool, &rows{all: []int{1, 2, 3}})
	obj := c.Acquire()
	kept := obj.all
	c.Release(obj)
	c.Update(nil) // resets it here
	want := 1
	if debugBuild {
		want = -1
	}
	if kept[0] != want {
		t.Errorf("after Release the reader sees %d, want %d", kept[0], want)
	}
	next := c.GetNew()
	if len(next.all) != 0 || cap(next.all) != 3 {
		t.Errorf("the writer finds %d rows of %d", len(next.all), cap(next.all))
	}
	refused = true
	pool.Release(next)
}

func TestPoisonWithoutReset(t *testing.T) {
	calls := 0
	pool := poolswap.NewPoolWithOptions(func() *table { return new(table) }, nil,
		poolswap.Options[table]{Poison: func(*table) { calls++ }})
	pool.Release(pool.Get())
	if poisoned := calls == 1; poisoned != debugBuild {
		t.Errorf("poisoned %d times, in a debug build %t", calls, debugBuild)
	}
}

// TestMisuseThatADebugBuildFinds would be silent otherwise, or found late and elsewhere.
func TestMisuseThatADebugBuildFinds(t *testing.T) {
	if !debugBuild {
		t.Skip("needs the tag poolswapdebug")
	}
	pool := newTablePool(poolswap.Options[table]{})
	c := poolswap.NewContainer(pool, &table{value: 1})
	t.Run("Release of a copy of the current object", func(t *testing.T) {
		obj := c.Acquire()
		copied := pooltest.CopyOf(obj)
		if text := pooltest.PanicOf(t, func() { c.Release(copied) }); !strings.Contains(text, "Release of a copy of a *poolswap_test.table") {
			t.Errorf("panics with %q", text)
		}
		c.Release(obj)
	})
	t.Run("a Reader that two goroutines use", func(t *testing.T) {
		r := c.NewReader()
		r.Load()
		_, panicked := pooltest.OnAnother(func() { r.Load() })
		if text, _ := panicked.(string); !strings.Contains(text, "Load of a Reader that another goroutine uses") {
			t.Errorf("panics with %v", panicked)
		}
		r.Close()
	})
	pooltest.Settled(t, pool, 0)
}
