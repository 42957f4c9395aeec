package refcount_test

import (
	"runtime/debug"
	"sync"
	"sync/atomic"
	"testing"
)

// crew is the goroutines of a stress test.
type crew struct {
	test   *testing.T
	group  sync.WaitGroup
	failed atomic.Bool
	ending sync.Once
	ended  chan struct{}
}

func newCrew(t *testing.T) *crew { return &crew{test: t, ended: make(chan struct{})} }

// fail reports the first failure and ends the run.
func (c *crew) fail(format string, args ...any) {
	if c.failed.CompareAndSwap(false, true) {
		c.test.Errorf(format, args...)
	}
	c.end()
}

func (c *crew) end() { c.ending.Do(func() { close(c.ended) }) }

// over reports whether the run has ended, or is about to.
func (c *crew) over() bool {
	select {
	case <-c.ended:
		return true
	default:
		return false
	}
}

// start runs work on another goroutine. A panic fails the run.
func (c *crew) start(work func()) {
	c.group.Go(func() {
		defer func() {
			if value := recover(); value != nil {
				c.fail("panic: %v\n%s", value, debug.Stack())
			}
		}()
		work()
	})
}
