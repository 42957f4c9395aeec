package poolswap_test

import (
	"context"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/internal/test/pooltest"
)

// randomWork is a pool whose hooks fail now and then, and the notes of its users.
type randomWork struct {
	pool       *poolswap.Pool[table, *table]
	containers []*poolswap.Container[table, *table]

	mu        sync.Mutex
	discarded []*table

	filling, most atomic.Int64 // objects that are being filled, or a few more; and most at a time
	forgotten     atomic.Int64
}

func newRandomWork(options poolswap.Options[table]) *randomWork {
	w := new(randomWork)
	var made, reset atomic.Int64
	options.Report = func(error) {} // panics of reset on the sweeper
	options.Discard = func(obj *table) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.discarded = append(w.discarded, obj)
	}
	w.pool = poolswap.NewPoolWithOptions(func() *table {
		if made.Add(1)%17 == 0 {
			panic(errHook)
		}
		return new(table)
	}, func(*table) bool {
		n := reset.Add(1)
		if n%101 == 0 {
			panic(errHook)
		}
		return n%29 != 0
	}, options)
	for range 2 {
		w.containers = append(w.containers, poolswap.NewEmptyContainer(w.pool))
	}
	return w
}

// begin counts one more object that is being filled, before it is.
func (w *randomWork) begin() {
	now := w.filling.Add(1)
	for {
		most := w.most.Load()
		if now <= most || w.most.CompareAndSwap(most, now) {
			return
		}
	}
}

// get is Get, or nil if a hook panicked.
func (w *randomWork) get() (obj *table) {
	w.begin()
	if w.panics(func() { obj = w.pool.Get() }) {
		w.filling.Add(-1)
	}
	return obj
}

// panics reports whether fn does.
func (w *randomWork) panics(fn func()) (panicked bool) {
	defer func() { panicked = recover() != nil }()
	fn()
	return false
}

// end ends a fill by fn, whose hooks may panic.
func (w *randomWork) end(fn func()) {
	w.panics(fn)
	w.filling.Add(-1)
}

func (w *randomWork) broughtBack() *table {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.discarded) == 0 {
		return nil
	}
	last := len(w.discarded) - 1
	obj := w.discarded[last]
	w.discarded[last] = nil // else it could not be collected if it is forgotten
	w.discarded = w.discarded[:last]
	return obj
}

// run does n things, and ends all fills that it began.
func (w *randomWork) run(t *testing.T, seed uint64, n int) {
	random := rand.New(rand.NewPCG(seed, 1))
	var own []*table
	take := func() (obj *table) {
		if last := len(own) - 1; last >= 0 {
			obj, own = own[last], own[:last]
		}
		return obj
	}
	for range n {
		c := w.containers[random.IntN(len(w.containers))]
		switch random.IntN(14) {
		case 0, 1, 2, 3:
			if obj := w.get(); obj != nil {
				own = append(own, obj)
			}
		case 4, 5:
			if obj := take(); obj != nil {
				w.end(func() { c.Update(obj) })
			}
		case 6:
			if obj := take(); obj != nil {
				w.end(func() { w.pool.Release(obj) })
			}
		case 7:
			if take() != nil {
				w.forgotten.Add(1) // is being filled until it is collected
			}
		case 8:
			w.panics(func() { c.Update(&table{}) })
		case 9:
			if obj := w.broughtBack(); obj != nil {
				w.panics(func() { c.Update(obj) })
			}
		case 10: // the held object is current or was
			if obj := c.Acquire(); obj != nil {
				if !w.panics(func() { c.Update(obj) }) {
					t.Error("an object that was held was published")
				}
				w.panics(func() { c.Release(obj) })
			}
		case 11:
			if obj := take(); obj != nil { // refused, and still its owner's
				closed := poolswap.NewEmptyContainer(w.pool)
				if err := closed.Close(t.Context()); err != nil || !w.panics(func() { closed.Update(obj) }) {
					t.Errorf("a closed container (%v) took an object", err)
				}
				own = append(own, obj)
			}
		case 12:
			w.panics(func() { c.Update(nil) })
			w.panics(w.pool.Trim)
		case 13:
			w.publish(t, c, random.IntN(5))
		}
	}
	for obj := take(); obj != nil; obj = take() {
		w.end(func() { w.pool.Release(obj) })
	}
}

// publish is Publish in one of the ways in which it ends.
func (w *randomWork) publish(t *testing.T, c *poolswap.Container[table, *table], way int) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	if way == 0 {
		cancel()
	}
	w.begin()
	w.end(func() {
		_, _ = c.Publish(ctx, func(next, _ *table) error {
			switch way {
			case 1:
				return errHook
			case 2:
				panic(errHook)
			case 3:
				c.Update(nil) // the container conflicts with this call
			}
			return nil
		})
	})
}

// TestDefaultSparesFollowRandomWork: after random work with failures no object counts
// as being filled.
func TestDefaultSparesFollowRandomWork(t *testing.T) {
	pooltest.ForEachMode(t, func(t *testing.T, options poolswap.Options[table]) {
		const goroutines, each = 6, 500
		w := newRandomWork(options)
		var workers sync.WaitGroup
		for g := range goroutines {
			workers.Go(func() { w.run(t, uint64(g), each) })
		}
		workers.Wait()
		if limit := int64(w.pool.Stats().SpareLimit); limit > max(poolswap.DefaultSpares, w.most.Load()) {
			t.Errorf("the limit is %d, with at most %d being filled at a time", limit, w.most.Load())
		}
		pooltest.Eventually(t, "forgotten objects are collected", func() bool {
			runtime.GC()
			return int64(w.pool.Stats().Collected) >= w.forgotten.Load()
		})
		for range 256 {
			if obj := w.get(); obj != nil {
				w.end(func() { w.pool.Release(obj) })
			}
		}
		if s := w.pool.Stats(); s.SpareLimit != poolswap.DefaultSpares {
			t.Errorf("one at a time: %+v", s)
		}
		var objs []*table
		for len(objs) < 5 {
			if obj := w.get(); obj != nil {
				objs = append(objs, obj)
			}
		}
		if s := w.pool.Stats(); s.SpareLimit != len(objs) {
			t.Errorf("%d at a time: %+v", len(objs), s)
		}
		for _, obj := range objs {
			w.panics(func() { w.pool.Release(obj) })
		}
		if err := w.pool.Close(t.Context()); err != nil {
			t.Error(err)
		}
		if s := w.pool.Stats(); s.Live != 0 || s.Spares != 0 {
			t.Errorf("closed: %+v", s)
		}
	})
}
