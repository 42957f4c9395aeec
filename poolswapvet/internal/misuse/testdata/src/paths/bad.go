package paths

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/poolswap/poolswap"
	"wrap"
)

func closureReturned() func(string) int {
	t := c.Acquire()
	defer c.Release(t)
	return func(name string) int { return t.By[name] } // want `is returned after its Release`
}

func afterLoop(keys []string) (n int) {
	t := c.Acquire()
	for _, key := range keys {
		if t.By[key] == 0 {
			c.Release(t)
			t = c.Acquire()
		}
	}
	c.Release(t)
	for range t.Rows { // want `an object is used after its Release`
		n++
	}
	return n
}

type list struct {
	poolswap.Ref
	rows  []int
	fixed []int
}

func (l *list) reset() { l.rows = l.rows[:0] }

var lists *poolswap.Container[list, *list]

func filledWithCurrent(ctx context.Context) error {
	_, err := lists.Publish(ctx, func(next, current *list) error {
		next.fixed = current.fixed // no reset takes it
		next.rows = current.rows   // want `keeps a slice out of its object`
		return nil
	})
	return err
}

func releasedOnSuccess(names []string) (sum int, err error) {
	t := c.Acquire() // want `not released on the path to the return`
	defer func() {
		if err == nil {
			c.Release(t)
		}
	}()
	for _, name := range names {
		n, ok := t.By[name]
		if !ok {
			return 0, errBad
		}
		sum += n
	}
	return sum, nil
}

func releasedOnPanic() int {
	t := c.Acquire() // want `not released on the path to the return`
	defer func() {
		if e := recover(); e != nil {
			c.Release(t)
			panic(e)
		}
	}()
	return use(t)
}

func goroutineReturnsEarly(t *Table) {
	own := c.Retain(t) // want `the goroutine that has the result of Retain does not release it`
	go func() {
		if use(own) == 0 {
			return
		}
		c.Release(own)
	}()
}

func goroutineBreaks(jobs <-chan int) {
	t := c.Acquire() // want `the goroutine that has the result of Acquire does not release it`
	go func() {
		for n := range jobs {
			if use(t) == n {
				c.Release(t)
				return
			}
		}
	}()
}

func replacedInVariable() int {
	t := c.Acquire() // want `takes the place|not released`
	defer func() { c.Release(t) }()
	if t.Size == 0 {
		t = c.Acquire()
	}
	return t.Size
}

func later() {
	t := c.Acquire()
	defer c.Release(t)
	time.AfterFunc(time.Second, func() { use(t) }) // want `a goroutine has an object`
}

func publishedAgain(n int) {
	next := pool.Get() // want `not published or released before the function ends`
	for range n {
		c.Update(next) // want `a loop publishes an object again and again`
	}
}

func halfReleased(b bool) {
	t := c.Acquire() // want `not released before the function ends`
	if b {
		c.Release(t)
	}
}

func switched(n int) int {
	t := c.Acquire() // want `not released on the path to the return`
	switch {
	case n > 0:
		n--
	case n < 0:
		c.Release(t)
	default:
		c.Release(t)
	}
	return n
}

func constructor(bad bool) (*Table, error) {
	t := c.Acquire() // want `not released on the path to the return`
	if bad {
		return nil, errBad
	}
	return t, nil
}

func recovered() (n int) {
	defer func() {
		if recover() != nil {
			n = -1
		}
	}()
	t := c.Acquire() // want `not released`
	if t.Size == 0 {
		panic(errors.New("empty"))
	}
	n = t.Size
	c.Release(t)
	return n
}

func overwrittenInIf(b bool) int {
	t := c.Acquire() // want `not released on the path to the return`
	if b {
		t = other.Acquire()
	}
	n := t.Size
	c.Release(t)
	return n
}

func overwrittenInLoop(n int) {
	t := c.Acquire()
	for range n {
		use(t)
		t = c.Acquire() // want `takes the place of an object that is not released before`
	}
	c.Release(t)
}

func until(ctx context.Context) {
	for ctx.Err() == nil {
		t := c.Acquire() // want `not released before the loop takes the next`
		use(t)
	}
}

func forever(in <-chan string) {
	for {
		t := c.Acquire()
		defer c.Release(t) // want `a deferred Release in a loop without an end`
		use(t)
		<-in
	}
}

func retainedForNothing() int {
	t := c.Acquire()
	defer c.Release(t)
	c.Retain(t) // want `the result of Retain is not used`
	return t.Size
}

func borrowed(ctx context.Context) int {
	t, release := namedRelease() // want `not released on the path to the return`
	if ctx.Err() != nil {
		return 0
	}
	n := t.Size
	release()
	return n
}

func borrowedTwice() int {
	t, release := namedRelease()
	defer release()
	n := t.Size
	release() // want `releases, too`
	return n
}

func borrowedThenUsed() int {
	t, release := namedRelease()
	release()
	return t.Size // want `is used after its Release`
}

func twoGoroutines(wg *sync.WaitGroup) {
	r := c.NewReader()
	wg.Go(func() { use(r.Load()) })
	wg.Go(func() { use(r.Load()) }) // want `shares the Reader`
	wg.Wait()
	r.Close()
}

func bothRelease() {
	t := c.Acquire()
	defer c.Release(t)
	done := make(chan struct{})
	go func() { // want `a goroutine releases an object`
		defer close(done)
		defer c.Release(t)
		use(t)
	}()
	<-done
}

func notWaited(r *wrap.Runner) {
	t := c.Acquire()
	go func() { use(t) }() // want `a goroutine has an object that is released`
	c.Release(t)
}

func loaded() bool {
	return c.Acquire() != nil // want `not released`
}

func beforeALoop() {
	t := c.Acquire() // want `not released before the function ends`
	for range 3 {
		use(t)
	}
	for i := 0; i < 5; i++ {
		use(t)
	}
}
