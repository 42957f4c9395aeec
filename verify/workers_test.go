package verify_test

import (
	"errors"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/poolswap/poolswap"
)

// work runs readers and writers on the pool, with all the faults, and returns
// when they are done.
func (f *faulty) work(readers, writers, times int) {
	var workers, disturbances sync.WaitGroup
	done := make(chan struct{})
	f.disturb(&disturbances, done)
	toRelease := make(chan *record, readers)
	disturbances.Go(func() { f.releaseForOthers(toRelease) })
	for range readers {
		workers.Go(func() { f.again(times, func() { f.readOnce(toRelease) }) })
	}
	for range writers {
		workers.Go(func() { f.again(times, f.writeOnce) })
	}
	workers.Wait()
	close(done)
	close(toRelease)
	disturbances.Wait()
}

// again calls do so many times, on goroutines that do may end.
func (f *faulty) again(times int, do func()) {
	for times > 0 {
		f.recoverExpected(func() {
			for times > 0 {
				times--
				do()
			}
		})
	}
}

// mostProcs is the highest GOMAXPROCS of disturb.
const mostProcs = 16

// disturb changes GOMAXPROCS and collects garbage until done is closed.
func (f *faulty) disturb(disturbances *sync.WaitGroup, done chan struct{}) {
	disturbances.Go(func() {
		was := runtime.GOMAXPROCS(0)
		defer runtime.GOMAXPROCS(was)
		for f.hits(procsChange) {
			// Objects made under a lower GOMAXPROCS have no stripe for the new Ps.
			runtime.GOMAXPROCS(1 + rand.IntN(mostProcs))
			select {
			case <-done:
				return
			case <-time.After(time.Millisecond):
			}
		}
	})
	disturbances.Go(func() {
		for f.hits(collection) {
			runtime.GC()
			select {
			case <-done:
				return
			default:
			}
		}
	})
}

// releaseForOthers releases objects that readers on other goroutines acquired.
func (f *faulty) releaseForOthers(objects chan *record) {
	for obj := range objects {
		f.look(obj)
		f.recoverExpected(func() { f.pool.Release(obj) })
	}
}

// look reads an object that is held. A recycled object is poisoned.
func (f *faulty) look(obj *record) {
	if _, err := obj.read(); err != nil {
		f.fail(err)
	}
}

func (f *faulty) readOnce(toRelease chan *record) {
	c := f.containers[rand.IntN(2)]
	switch rand.IntN(4) {
	case 0:
		f.readWith(c)
	case 1:
		r := c.NewReader()
		defer r.Close()
		for range 3 {
			if obj := r.Load(); obj != nil {
				f.look(obj)
			}
			runtime.Gosched()
		}
	case 2:
		if obj := c.Acquire(); obj != nil {
			toRelease <- obj
		}
	case 3:
		f.readAndKeep(c)
	}
}

// readWith reads in a function that may panic or call Goexit.
func (f *faulty) readWith(c *poolswap.Container[record, *record]) {
	c.WithAcquire(func(obj *record) {
		if obj == nil {
			return
		}
		f.look(obj)
		runtime.Gosched()
		f.look(obj)
		if f.hits(readerPanics) {
			panic(errReader)
		}
		if f.hits(readerExits) {
			runtime.Goexit()
		}
	})
}

// readAndKeep reads, and may keep its reference for good. It keeps up to 12
// objects, some of them twice, which is enough to starve a pool with a limit.
func (f *faulty) readAndKeep(c *poolswap.Container[record, *record]) {
	obj := c.Acquire()
	if obj == nil {
		return
	}
	f.look(obj)
	runtime.Gosched()
	f.look(obj)
	if f.keeps(obj) {
		return
	}
	c.Release(obj)
}

func (f *faulty) keeps(obj *record) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.kept[obj] == 2 || (f.kept[obj] == 0 && len(f.kept) == 12) || !f.hits(neverReleases) {
		return false
	}
	f.kept[obj]++
	return true
}

func (f *faulty) writeOnce() {
	c := f.containers[rand.IntN(2)]
	switch {
	case chance(5):
		c.Update(nil)
		return
	case chance(5) && f.maxLive == 0:
		f.adopted.Add(1)
		c.Update(f.newRecord())
		return
	}
	obj, err := f.take()
	if errors.Is(err, poolswap.ErrLimit) {
		f.hits(limitReached)
		return
	}
	switch {
	case f.hits(writerDies):
		f.dropped.Add(1)
		runtime.Goexit()
	case chance(10):
		f.pool.Release(obj)
	default:
		c.Update(obj)
	}
}

// starve publishes and holds objects until a pool with a limit refuses to make
// another. The pool must refuse once as many objects are held.
func (f *faulty) starve(t *testing.T) {
	t.Helper()
	if f.maxLive == 0 {
		return
	}
	c := f.containers[0]
	for range f.maxLive + 1 {
		if obj := c.Acquire(); obj != nil {
			f.kept[obj]++
		}
		obj, err := f.take()
		if err != nil {
			if !errors.Is(err, poolswap.ErrLimit) {
				t.Errorf("TryGet at the limit: %v", err)
			}
			f.hits(limitReached)
			return
		}
		c.Update(obj)
	}
	t.Errorf("%d objects are held and the pool makes another, its limit is %d", f.maxLive+1, f.maxLive)
}
