package refcount_test

import (
	"context"
	"runtime"
	"testing"

	"github.com/poolswap/poolswap"
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
