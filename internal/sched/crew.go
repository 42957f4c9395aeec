//go:build poolswapsched

package sched

import "iter"

// crew is coroutines that threads run on, one thread after the other: a
// coroutine is dear to make, and its stack has to grow each time.
type crew struct {
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
func (c *crew) take(task func()) *coroutine {
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
func (c *crew) giveBack(used *coroutine) { c.idle = append(c.idle, used) }

// disband ends all coroutines, none of which may have a task.
func (c *crew) disband() {
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
