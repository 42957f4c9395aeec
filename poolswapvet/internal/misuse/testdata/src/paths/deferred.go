package paths

import (
	"context"
	"os"
	"sync"
	"time"
)

func oneAfterTheOther(wg *sync.WaitGroup) {
	r := c.NewReader()
	defer r.Close()
	wg.Go(func() { use(r.Load()) })
	wg.Wait()
	wg.Go(func() { use(r.Load()) })
	wg.Wait()
}

func oneOfTwo(b bool) {
	r := c.NewReader()
	defer r.Close()
	done := make(chan struct{})
	if b {
		go func() { use(r.Load()); close(done) }()
	} else {
		go func() { r.Load(); close(done) }()
	}
	<-done
}

func looksAt() int {
	t := pool.Get()
	c.Update(t)
	return pool.Refs(t)
}

func sameAddress() bool {
	t := pool.Get()
	pool.Release(t)
	again := pool.Get()
	defer pool.Release(again)
	return again == t
}

func fails(f *os.File) (t *Table, err error) {
	t = c.Acquire()
	if _, err = f.Stat(); err != nil {
		c.Release(t)
		return nil, err
	}
	return t, nil
}

func plain(bad bool) (*Table, error) {
	t := c.Acquire()
	if bad {
		c.Release(t)
		return nil, errBad
	}
	return t, nil
}

func twice() {
	t := c.Acquire()
	c.Retain(t)
	for range 2 {
		c.Release(t)
	}
}

func retainedFor(tables map[string]*Table) {
	t := c.Acquire()
	defer c.Release(t)
	tables["a"] = c.Retain(t)
}

func finder() func(string) int {
	t := c.Acquire()
	by := map[string]int{}
	for k, v := range t.By {
		by[k] = v
	}
	c.Release(t)
	return func(name string) int { return by[name] }
}

func finderHeld() func(string) int {
	t := c.Acquire()
	return func(name string) int { return t.By[name] }
}

func sorted(keys []string) (n int) {
	t := c.Acquire()
	for _, key := range keys {
		if t.By[key] == 0 {
			c.Release(t)
			t = c.Acquire()
		}
	}
	n = len(t.Rows)
	c.Release(t)
	return n
}

func fill(ctx context.Context) error {
	_, err := c.Publish(ctx, func(next, current *Table) error {
		next.Rows = append(next.Rows[:0], current.Rows...)
		rows := current.Rows
		next.Size = len(rows)
		return nil
	})
	return err
}

func deferredBefore() int {
	var t *Table
	defer func() {
		if t != nil {
			c.Release(t)
		}
	}()
	t = c.Acquire()
	return t.Size
}

func deferredLiteralInLoop(n int) (sum int) {
	for range n {
		t := c.Acquire()
		defer func() { c.Release(t) }()
		sum += t.Size
	}
	return sum
}

func failsByName(read func() error, fail func(error) error) (err error) {
	next := pool.Get()
	defer func() {
		if err != nil {
			pool.Release(next)
		}
	}()
	if err := read(); err != nil {
		return fail(err)
	}
	c.Update(next)
	return nil
}

func handedOver(keep func(*Table)) {
	t := c.Acquire()
	defer func() {
		if t != nil {
			c.Release(t)
		}
	}()
	if t.Size > 0 {
		keep(t)
		t = nil
	}
}

func stoppable() {
	t := c.Acquire()
	defer c.Release(t)
	timer := time.AfterFunc(time.Second, func() { use(t) })
	defer timer.Stop()
	use(t)
}

func timed() {
	own := c.Acquire()
	timer := time.AfterFunc(time.Second, func() { c.Release(own) })
	if timer.Stop() {
		c.Release(own)
	}
}

func sameFlag(share bool) {
	var own *Table
	if share {
		own = c.Acquire()
	}
	go func() {
		if share {
			c.Release(own)
		}
	}()
}

func goroutineKeeps(out chan *Table) {
	t := c.Acquire()
	go func() {
		if use(t) == 0 {
			out <- t
			return
		}
		c.Release(t)
	}()
}

func twin(*Table) *Table { return nil }

func counts(w *Table) int {
	obj := c.Acquire()
	if twin(obj) != w {
		c.Release(obj)
		return 1
	}
	if w != nil {
		c.Release(obj)
	}
	return 0
}

type tester interface{ Fatalf(string, ...any) }

func inTests(t tester, w *Table) {
	obj := c.Acquire()
	if twin(obj) != w {
		t.Fatalf("not %v", w)
	}
	if w != nil {
		c.Release(obj)
	}
}
