package poolswap_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/internal/test/pooltest"
)

type tables = poolswap.Container[table, *table]

// The mistakes of a service, each a function that loses a reference when it is called.
var mistakes = []struct {
	function string
	lose     func(c *tables)
}{
	{"returnsEarly", returnsEarly},
	{"blocks", func(c *tables) {
		reached := make(chan struct{})
		go blocks(c, reached)
		<-reached
	}},
	{"cachesPointer", cachesPointer},
	{"leavesReaderUnparked", leavesReaderUnparked},
	{"retainsTwice", retainsTwice},
	{"failsWithoutRelease", func(c *tables) { _ = failsWithoutRelease(c) }},
	{"panics", func(c *tables) {
		defer func() { _ = recover() }()
		panics(c)
	}},
	{"handsOverInVain", handsOverInVain},
}

func returnsEarly(c *tables) {
	obj := c.Acquire()
	if obj.value >= 0 {
		return
	}
	c.Release(obj)
}

var (
	never = make(chan struct{})
	cache sync.Map
)

func blocks(c *tables, reached chan<- struct{}) {
	obj := c.Acquire()
	defer c.Release(obj)
	close(reached)
	<-never
}

func cachesPointer(c *tables) { cache.Store(time.Now(), c.Acquire()) }

func leavesReaderUnparked(c *tables) {
	r := c.NewReader()
	r.Load()
	cache.Store(time.Now(), r)
}

func retainsTwice(c *tables) {
	c.WithAcquire(func(obj *table) {
		c.Retain(obj)
		c.Retain(obj)
		c.Release(obj)
	})
}

func failsWithoutRelease(c *tables) error {
	obj := c.Acquire()
	if obj.value >= 0 {
		return errors.New("failed")
	}
	c.Release(obj)
	return nil
}

func panics(c *tables) {
	obj := c.Acquire()
	if obj.value >= 0 {
		panic("a request that is recovered above")
	}
	c.Release(obj)
}

func handsOverInVain(c *tables) {
	requests := make(chan *table, 1)
	requests <- c.Acquire() // no goroutine takes it
}

// TestALeakOfAServiceIsNamed: from the first version that is held too long one further
// publication is enough, while requests read as they should.
func TestALeakOfAServiceIsNamed(t *testing.T) {
	for _, mistake := range mistakes {
		t.Run(mistake.function, func(t *testing.T) {
			var reports pooltest.Reports
			pool := newTablePool(poolswap.Options[table]{HeldTooLong: time.Nanosecond, Report: reports.Report})
			c := poolswap.NewContainer(pool, &table{value: 1})
			ctx, cancel := context.WithCancel(t.Context())
			var requests atomic.Uint64
			var handlers sync.WaitGroup
			for range 4 {
				handlers.Go(func() {
					for ctx.Err() == nil {
						c.WithAcquire(func(obj *table) { _ = obj.value })
						requests.Add(1)
					}
				})
			}
			pooltest.Eventually(t, "requests come", func() bool { return requests.Load() > 1000 })

			mistake.lose(c)
			first := c.Version()
			c.Update(c.GetNew()) // replaces the version that is held
			c.Update(c.GetNew()) // finds it, and is traced
			mistake.lose(c)
			if !strings.Contains(reports.String(), "was replaced") {
				t.Errorf("version %d is held, and reported is %q", first, &reports)
			}
			pooltest.Eventually(t, "the line is named", func() bool {
				for _, h := range pool.Holders() {
					if strings.Contains(h.String(), "poolswap_test."+mistake.function+"\n") || strings.Contains(h.String(), "poolswap_test."+mistake.function+".func") {
						return true
					}
				}
				return false
			})
			cancel()
			handlers.Wait()
		})
	}
}
