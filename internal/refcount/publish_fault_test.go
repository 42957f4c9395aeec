package refcount_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/internal/test/pooltest"
)

// atOnce is a context that ends when something is about to wait for it: where a
// Publish should not have to wait it does not hang, but returns an error.
type atOnce struct {
	context.Context
	end context.CancelFunc
}

func (c atOnce) Done() <-chan struct{} {
	c.end()
	return c.Context.Done()
}

func newAtOnce(t *testing.T) context.Context {
	ctx, end := context.WithCancel(t.Context())
	t.Cleanup(end)
	return atOnce{ctx, end}
}

// TestAFillThatDoesNotReturnCostsNothing: the next publishers wait for nothing,
// its object is back, and the container is as it was.
func TestAFillThatDoesNotReturnCostsNothing(t *testing.T) {
	for _, way := range []struct {
		name string
		end  func()
	}{
		{"a panic", func() { panic("fill") }},
		{"a call of Goexit", runtime.Goexit},
	} {
		t.Run(way.name, func(t *testing.T) {
			pool := newTablePool(poolswap.Options[table]{MaxLive: 2})
			c := poolswap.NewContainer(pool, &table{value: 1})
			version := c.Version()
			returned, panicked := false, make(chan any, 1)
			go func() {
				defer func() { panicked <- recover() }()
				_, _ = c.Publish(t.Context(), func(next, _ *table) error {
					next.value = 2
					way.end()
					return nil
				})
				returned = true
			}()
			if value := <-panicked; returned || (value == nil) == (way.name == "a panic") {
				t.Errorf("Publish returned: %v, and passed on the panic %v", returned, value)
			}
			held := c.Acquire()
			if held.value != 1 || c.Version() != version {
				t.Errorf("the container has the content %d and version %d, want 1 and %d", held.value, c.Version(), version)
			}
			if stats := pool.Stats(); stats.Live != 2 || stats.Spares != 1 || stats.FailedPublishes != 1 {
				t.Errorf("after fill did not return: %+v", stats)
			}
			c.Release(held)
			for want := 3; want < 5; want++ {
				if _, err := c.Publish(newAtOnce(t), func(next, _ *table) error { next.value = want; return nil }); err != nil {
					t.Fatalf("the next Publish: %v", err)
				}
			}
			held = c.Acquire()
			defer c.Release(held)
			if held.value != 4 {
				t.Errorf("the content is %d, want that of the last Publish", held.value)
			}
		})
	}
}

// TestPublishLeavesAnotherOwnersObject: fill releases next, which is discarded,
// and the factory hands it out again. It is another owner's then, and Publish
// neither publishes it nor gives it back.
func TestPublishLeavesAnotherOwnersObject(t *testing.T) {
	only := new(table)
	pool := poolswap.NewPoolWithOptions(func() *table { return only }, nil, poolswap.Options[table]{Spares: poolswap.NoSpares})
	c := poolswap.NewEmptyContainer(pool)
	var fills error
	publish := func() (uint64, error) {
		return c.Publish(t.Context(), func(next, _ *table) error {
			pool.Release(next)
			if pool.Get() != next {
				t.Error("the factory made another object")
			}
			return fills
		})
	}
	text := pooltest.PanicOf(t, func() { _, _ = publish() })
	if !strings.Contains(text, " that fill published or gave back (fill only fills next) ") {
		t.Errorf("panic text: %s", text)
	}
	pool.Release(only) // its owner's

	fills = errors.New("fill's own")
	if version, err := publish(); version != 0 || err != fills {
		t.Errorf("with an error of fill, Publish returned %d, %v", version, err)
	}
	if obj := c.Acquire(); obj != nil {
		t.Error("the object of another owner is current")
	}
	pool.Release(only)
	if s := pool.Stats(); s.Live != 0 || s.Created != 4 || s.Discarded != 4 || s.Updates != 0 {
		t.Errorf("%+v", s)
	}
}
