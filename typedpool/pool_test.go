package typedpool_test

import (
	"errors"
	"sync"
	"testing"

	"github.com/poolswap/poolswap/typedpool"
)

type record struct {
	id   int
	name string
	next *record
}

func TestPool(t *testing.T) {
	t.Run("the zero pool makes zero objects", func(t *testing.T) {
		var p typedpool.Pool[record]
		if x := p.Get(); x == nil || *x != (record{}) {
			t.Errorf("Get = %v, want a zero record", x)
		}
	})
	t.Run("an empty pool calls its function once for each Get", func(t *testing.T) {
		made := 0
		p := typedpool.New(func() *record { made++; return &record{id: made} })
		for want := 1; want <= 3; want++ {
			if x := p.Get(); x.id != want {
				t.Errorf("Get returned object %d, want %d", x.id, want)
			}
		}
	})
	t.Run("an object comes back as it was put", func(t *testing.T) {
		p := typedpool.New(func() *record { return &record{id: 1} })
		other := &record{}
		eventually(t, "Get returns the object just put", func() bool {
			x := &record{id: 7, name: "seven", next: other}
			p.Put(x)
			y := p.Get()
			if y == x && *y != (record{id: 7, name: "seven", next: other}) {
				t.Errorf("put with id 7, came back as %+v", *y)
			}
			return y == x
		})
	})
	t.Run("Put of nil does nothing", func(t *testing.T) {
		p := typedpool.New(func() *record { return &record{id: 1} })
		for range 100 {
			p.Put(nil)
			if x := p.Get(); x == nil || x.id != 1 {
				t.Fatalf("after Put(nil), Get = %v", x)
			}
		}
	})
	t.Run("objects without size are pooled too", func(t *testing.T) {
		var p typedpool.Pool[struct{}]
		a, b := p.Get(), p.Get()
		p.Put(a)
		p.Put(b)
		if p.Get() == nil {
			t.Error("Get returned nil")
		}
	})
}

func TestWrongUseOfPool(t *testing.T) {
	t.Run("New with nil panics", func(t *testing.T) {
		mustPanic(t, func() { typedpool.New[record](nil) }, "typedpool: New with a nil function")
	})
	t.Run("Get panics when the function returns nil", func(t *testing.T) {
		p := typedpool.New(func() *record { return nil })
		mustPanic(t, func() { p.Get() }, "typedpool: Get", "returned nil")
	})
	t.Run("a panic of the function propagates and leaves the pool usable", func(t *testing.T) {
		fail := true
		p := typedpool.New(func() *record {
			if fail {
				panic("no memory for you")
			}
			return new(record)
		})
		mustPanic(t, func() { p.Get() }, "no memory for you")
		fail = false
		if p.Get() == nil {
			t.Error("Get returned nil")
		}
	})
}

func TestPoolDoesNotAllocate(t *testing.T) {
	var zero typedpool.Pool[[8 << 10]byte]
	made := typedpool.New(func() *record { return new(record) })
	optional := typedpool.NewWithOptions(func() *record { return new(record) }, typedpool.Options[record]{
		Reset:   func(r *record) bool { *r = record{}; return true },
		Size:    func(r *record) int { return len(r.name) },
		MaxSize: 10,
	})
	for _, c := range []struct {
		name      string
		roundTrip func()
	}{
		{"the zero pool", func() { zero.Put(zero.Get()) }},
		{"a pool with a function", func() { made.Put(made.Get()) }},
		{"a pool with options", func() { optional.Put(optional.Get()) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			if n := allocs(t, c.roundTrip); n != 0 {
				t.Errorf("%v allocations per Get and Put, want 0", n)
			}
		})
	}
}

// The race detector reads this test: an object has one owner at a time, and what
// one owner wrote the next one sees.
func TestObjectHasOneOwner(t *testing.T) {
	type counter struct{ owners, n int }
	p := typedpool.New(func() *counter { return new(counter) })
	errs := make(chan error, 8)
	var wg sync.WaitGroup
	for range cap(errs) {
		wg.Go(func() {
			for range 2000 {
				c := p.Get()
				c.owners++
				c.n++
				if c.owners != 1 {
					errs <- errors.New("an object has two owners")
					return
				}
				c.owners--
				p.Put(c)
			}
		})
	}
	wg.Wait()
	close(errs)
	for err := range errs {
		t.Error(err)
	}
}
