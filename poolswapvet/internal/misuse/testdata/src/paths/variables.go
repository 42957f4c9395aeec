package paths

import (
	"context"
	"sync"
	"time"

	"wrap"
)

func best(hosts []string) int {
	best := c.Acquire()
	for range hosts {
		t := other.Acquire()
		if t.Size > best.Size {
			t, best = best, t
		}
		c.Release(t)
	}
	defer c.Release(best)
	return best.Size
}

func either(a bool) int {
	var t *Table
	if a {
		t = c.Acquire()
	} else {
		t = other.Acquire()
	}
	n := t.Size
	if a {
		c.Release(t)
	} else {
		other.Release(t)
	}
	return n
}

func all(n int) (sum int) {
	var held []*Table
	for range n {
		held = append(held, c.Acquire())
	}
	for _, t := range held {
		sum += t.Size
		c.Release(t)
	}
	return sum
}

func replaced(ctx context.Context) int {
	t := c.Acquire()
	defer func() { c.Release(t) }()
	if t.Size == 0 {
		c.Release(t)
		t = c.Acquire()
	}
	return t.Size
}

func replacedAndKept(ctx context.Context) int {
	t := c.Acquire()
	defer func() { c.Release(t) }()
	if t.Size == 0 {
		old := t
		t = c.Acquire()
		n := t.Size - old.Size
		c.Release(old)
		return n
	}
	return t.Size
}

func again(f func(error)) {
	t := c.Acquire()
	defer func() {
		if e := recover(); e != nil {
			c.Release(t)
			panic(e)
		}
	}()
	if t.Size == 0 {
		panic(errBad)
	}
	c.Release(t)
}

type failure struct{ error }

func throws() (err error) {
	defer func() {
		if e := recover(); e != nil {
			f, ok := e.(failure)
			if !ok {
				panic(e)
			}
			err = f.error
		}
	}()
	t := c.Acquire()
	if t.Size == 0 {
		panic("never")
	}
	c.Release(t)
	return nil
}

func background(t *Table) {
	own := c.Retain(t)
	free := t.Size > 0
	go func() {
		if free {
			c.Release(own)
		}
	}()
	if !free {
		c.Release(own)
	}
}

func inGoroutine(jobs <-chan int) {
	t := c.Acquire()
	go func() {
		for range jobs {
			if use(t) == 0 {
				c.Release(t)
				return
			}
		}
		c.Release(t)
	}()
}

func waited() {
	t := c.Acquire()
	defer c.Release(t)
	var wg sync.WaitGroup
	for range 4 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			use(t)
		}()
	}
	wg.Wait()
}

type server struct {
	wg   sync.WaitGroup
	done chan struct{}
}

func (s *server) join()   { s.finish() }
func (s *server) finish() { s.wg.Wait() }

func (s *server) waitsDeep() {
	t := c.Acquire()
	defer c.Release(t)
	s.wg.Add(1)
	go func() { defer s.wg.Done(); use(t) }()
	s.join()
}

func waitsElsewhere(r *wrap.Runner) {
	t := c.Acquire()
	defer c.Release(t)
	go func() { r.Step(); use(t) }()
	r.Finish()
}

func deferredWait() {
	t := c.Acquire()
	defer c.Release(t)
	var wg sync.WaitGroup
	defer wg.Wait()
	wg.Go(func() { use(t) })
	wg.Add(1)
	go func() { defer wg.Done(); use(t) }()
}

func waitsForTheLast() {
	t := c.Acquire()
	defer c.Release(t)
	done := make(chan struct{})
	defer func() { <-done }()
	go func() { defer close(done); use(t) }()
}

func deferredInLoop(names []string) (sum int) {
	for range names {
		t := c.Acquire()
		defer c.Release(t)
		sum += t.Size
	}
	return sum
}

func untilStopped(ctx context.Context, in <-chan int) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-in:
			func() {
				t := c.Acquire()
				defer c.Release(t)
				use(t)
			}()
		}
	}
}

func once() int {
	for {
		t := c.Acquire()
		if t == nil {
			time.Sleep(1)
			continue
		}
		defer c.Release(t)
		return t.Size
	}
}

func sharedUnderMutex(mu *sync.Mutex, wg *sync.WaitGroup) {
	r := c.NewReader()
	for range 4 {
		wg.Go(func() {
			mu.Lock()
			defer mu.Unlock()
			use(r.Load())
			r.Park()
		})
	}
	wg.Wait()
	r.Close()
}
