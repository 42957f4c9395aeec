package oplog_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/internal/test/pooltest"
)

func TestPublishWithNilContext(t *testing.T) {
	log := newLog(t)
	var none context.Context
	pooltest.WantPanic(t, "oplog: Publish with a nil Context", func() { log.Publish(none, set(1, 1)) })
	pooltest.WantPanic(t, "oplog: Replace with a nil Context", func() { log.Replace(none, func(*table) error { return nil }) })
	publish(t, log, set(1, 1))
}

func TestPublishWaitsForTurn(t *testing.T) {
	log := newLog(t)
	in, proceed, done := make(chan bool), make(chan bool), make(chan error)
	go func() {
		first := true // call is applied again later, by the other publishers
		_, err := log.Publish(context.Background(), call(func(obj *table) error {
			if first {
				first = false
				in <- true
				<-proceed
			}
			obj.values[1]++
			return nil
		}))
		done <- err
	}()
	<-in
	if version, err := log.Publish(endsInsteadOfWaiting(t), set(2, 2)); version != 0 || err != context.Canceled {
		t.Errorf("Publish returned %d, %v", version, err)
	}
	if version, err := log.Replace(endsInsteadOfWaiting(t), func(*table) error { return nil }); version != 0 || err != context.Canceled {
		t.Errorf("Replace returned %d, %v", version, err)
	}
	waits, got := make(chan bool, 10), make(chan error)
	go func() { // this one gets its turn
		_, err := log.Publish(waiting{context.Background(), func() { waits <- true }}, set(3, 3))
		got <- err
	}()
	<-waits
	close(proceed)
	if err := errors.Join(<-done, <-got); err != nil {
		t.Error(err)
	}
	wantCurrent(t, log, "map[1:1 3:3]")
	wantRight(t, log)
}

func TestPublishWaitsForObject(t *testing.T) {
	log := newLog(t, maxLive(2))
	publish(t, log, set(1, 1))
	held := log.Container().Acquire()
	publish(t, log, set(2, 2))
	before := stateOf(log)
	version, err := log.Publish(endsInsteadOfWaiting(t), set(3, 3))
	var heldError *poolswap.HeldError
	if version != 0 || !errors.Is(err, poolswap.ErrLimit) || !errors.Is(err, context.Canceled) || !errors.As(err, &heldError) {
		t.Errorf("Publish returned %d, %v", version, err)
	}
	wantUnchanged(t, log, before)

	waits, done := make(chan bool, 10), make(chan error)
	go func() {
		_, err := log.Publish(waiting{context.Background(), func() { waits <- true }}, set(4, 4))
		done <- err
	}()
	<-waits
	log.Container().Release(held)
	if err := <-done; err != nil {
		t.Error(err)
	}
	wantCurrent(t, log, "map[1:1 2:2 4:4]")
	wantRight(t, log)
}

func TestTwoObjectsTakeTurns(t *testing.T) {
	for _, limit := range []int{0, 2} {
		log := newLog(t, maxLive(limit))
		for i := range 100 {
			publish(t, log, push(1, uint64(i)))
		}
		if stats := log.Pool().Stats(); stats.Created != 2 || stats.Live != 2 {
			t.Errorf("MaxLive %d: %d objects were made, %d live", limit, stats.Created, stats.Live)
		}
	}
}

func TestClosedLog(t *testing.T) {
	for name, end := range map[string]func(*tableLog) error{
		"the container is closed": func(log *tableLog) error { return log.Container().Close(context.Background()) },
		"the pool is closed":      func(log *tableLog) error { return log.Pool().Close(context.Background()) },
	} {
		t.Run(name, func(t *testing.T) {
			log := newLog(t)
			publish(t, log, set(1, 1))
			before := log.Stats()
			before.Kept = 0 // no object will need them
			if err := end(log); err != nil {
				t.Fatal(err)
			}
			for range 2 {
				if version, err := log.Publish(t.Context(), set(2, 2)); version != 0 || err != poolswap.ErrClosed {
					t.Errorf("Publish returned %d, %v", version, err)
				}
				if version, err := log.Replace(t.Context(), func(*table) error { return nil }); version != 0 || err != poolswap.ErrClosed {
					t.Errorf("Replace returned %d, %v", version, err)
				}
			}
			if now := log.Stats(); now != before {
				t.Errorf("%+v, and was %+v", now, before)
			}
			wantRight(t, log)
		})
	}
}

func TestCloseOvertakesPublish(t *testing.T) {
	log := newLog(t)
	publish(t, log, set(1, 1))
	ended, end := context.WithCancel(t.Context())
	end()
	version, err := log.Publish(t.Context(), call(func(*table) error {
		if err := log.Container().Close(ended); err == nil {
			return fmt.Errorf("Close did not wait for the fill that it runs in")
		}
		return nil
	}))
	if version != 0 || err != poolswap.ErrClosed {
		t.Errorf("Publish returned %d, %v", version, err)
	}
	if stats := log.Stats(); stats.Publications != 1 || stats.Kept != 0 {
		t.Errorf("%+v", stats)
	}
}

// TestErrorOfOtherContainer: an error of Apply, Copy or the ops of PublishFunc can
// match the errors of the log's own container.
func TestErrorOfOtherContainer(t *testing.T) {
	for _, of := range []error{poolswap.ErrClosed, poolswap.ErrConflict, poolswap.ErrLimit, fmt.Errorf("another: %w", poolswap.ErrClosed)} {
		t.Run(of.Error(), func(t *testing.T) {
			copies := false
			log := newLog(t, func(c *tableOptions) {
				c.Copy = func(dst, src *table) error {
					if copies {
						return of
					}
					return copyTable(dst, src)
				}
			})
			publish(t, log, set(1, 1))
			publish(t, log, push(1, 10))
			publish(t, log, push(1, 11)) // two objects alternate now
			before, restarts := stateOf(log), log.Stats().Restarts
			fails := call(func(obj *table) error { spoil(obj); return of })
			if _, err := log.Publish(t.Context(), fails); !errors.Is(err, of) {
				t.Errorf("Publish returned %v", err)
			}
			copies = true // of the object that Apply spoiled
			if _, err := log.Publish(t.Context(), push(1, 12)); !errors.Is(err, of) {
				t.Errorf("with a Copy that fails, Publish returned %v", err)
			}
			copies = false
			if _, err := log.PublishFunc(t.Context(), func(*table) ([]operation, error) { return nil, of }); err != of {
				t.Errorf("PublishFunc returned %v", err)
			}
			wantUnchanged(t, log, before)
			publish(t, log, push(1, 12))
			publish(t, log, push(1, 13))
			wantCurrent(t, log, "map[1:1] map[1:[10 11 12 13]]")
			if now := log.Stats().Restarts; now != restarts {
				t.Errorf("%d restarts, and were %d", now, restarts)
			}
			wantRight(t, log)
		})
	}
}

func TestFailedResetInReplace(t *testing.T) {
	failing := false
	log := newLog(t, func(c *tableOptions) {
		c.Reset = func(obj *table) {
			if failing {
				spoil(obj)
				panic(errBad)
			}
			resetTable(obj)
		}
	})
	publish(t, log, set(1, 1))
	publish(t, log, set(2, 2))
	before := stateOf(log)
	failing = true
	wantFailed(t, "panics", try(func() (uint64, error) { return log.Replace(t.Context(), load(7, 7)) }))
	wantUnchanged(t, log, before)
	publish(t, log, set(3, 3)) // by Copy, which needs no Reset
	wantCurrent(t, log, "map[1:1 2:2 3:3]")
	failing = false
	wantRight(t, log)
}

func TestReplaceWithNilFill(t *testing.T) {
	log := newLog(t)
	before := stateOf(log)
	pooltest.WantPanic(t, "oplog: Replace with a nil fill", func() { log.Replace(t.Context(), nil) })
	wantUnchanged(t, log, before)
	publish(t, log, set(1, 1))
}
