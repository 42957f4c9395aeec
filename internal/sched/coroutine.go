//go:build poolswapsched

package sched

import "iter"

// coroutines are reused by one thread after the other, because a new coroutine
// is expensive and has to grow its stack.
type coroutines struct {
	all  []*coroutine
	idle []*coroutine
}

// coroutine runs tasks. Each call of resume lets the task run until its next
// pause, or until it ends.
type coroutine struct {
	task   func()
	pause  func()
	resume func()
	stop   func()
}

// take returns a coroutine that will run task.
func (c *coroutines) take(task func()) *coroutine {
	if len(c.idle) == 0 {
		made := newCoroutine()
		c.all = append(c.all, made)
		c.idle = append(c.idle, made)
	}
	last := len(c.idle) - 1
	taken := c.idle[last]
	c.idle = c.idle[:last]
	taken.task = task
	return taken
}

// giveBack returns a coroutine whose task has ended.
func (c *coroutines) giveBack(used *coroutine) { c.idle = append(c.idle, used) }

// stop ends all coroutines. None of them may have a task.
func (c *coroutines) stop() {
	for _, one := range c.all {
		one.stop()
	}
}

func newCoroutine() *coroutine {
	c := new(coroutine)
	next, stop := iter.Pull(func(yield func(struct{}) bool) {
		c.pause = func() { yield(struct{}{}) }
		for {
			c.task()
			if !yield(struct{}{}) {
				return
			}
		}
	})
	c.resume, c.stop = func() { next() }, stop
	return c
}
