package oplog_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/internal/test/pooltest"
)

func TestPublishAppliesOperationsInOrderToWhatIsCurrent(t *testing.T) {
	log := newLog(t)
	last := log.Container().Version()
	for i, want := range []string{
		"map[0:0] map[9:[0 10]]",
		"map[0:0 1:1] map[9:[0 10 1 11]]",
		"map[0:0 1:1 2:2] map[9:[0 10 1 11 2 12]]",
		"map[0:0 1:1 2:2 3:3] map[9:[0 10 1 11 2 12 3 13]]",
		"map[0:0 1:1 2:2 3:3 4:4] map[9:[4 14]]",
	} {
		n := uint64(i)
		version := publish(t, log, push(9, n), set(uint16(i), 99), push(9, n+10), set(uint16(i), n))
		if version <= last || version != log.Container().Version() {
			t.Errorf("version %d after %d; the container is at %d", version, last, log.Container().Version())
		}
		last = version
		wantCurrent(t, log, want)
	}
	wantRight(t, log)
}

func TestReadersThatHoldAnOldVersionKeepIt(t *testing.T) {
	log := newLog(t)
	var held []*table
	for i := range 20 {
		held = append(held, log.Container().Acquire())
		publish(t, log, push(1, uint64(i)), set(uint16(i), 1), remove(uint16(i-1)))
	}
	oracle := newTable()
	for i, obj := range held {
		if !equalTables(obj, oracle) {
			t.Errorf("a reader of version %d reads %s, want %s", i, contentOf(obj), contentOf(oracle))
		}
		log.Container().Release(obj)
		for _, op := range []operation{push(1, uint64(i)), set(uint16(i), 1), remove(uint16(i - 1))} {
			applyOperation(oracle, op)
		}
	}
	wantRight(t, log)
}

func TestPublishOfNoOperationsDoesNothing(t *testing.T) {
	log := newLog(t)
	publish(t, log, set(1, 1))
	before, stats := stateOf(log), log.Stats()
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for _, ctx := range []context.Context{t.Context(), ended} {
		if version, err := log.Publish(ctx); version != 0 || err != nil {
			t.Errorf("it returned %d, %v", version, err)
		}
		version, err := log.PublishFunc(t.Context(), func(*table) ([]operation, error) { _, err := log.Publish(ctx); return nil, err })
		if version != 0 || err != nil {
			t.Errorf("PublishFunc returned %d, %v", version, err)
		}
	}
	wantUnchanged(t, log, before)
	if now := log.Stats(); now != stats {
		t.Errorf("%+v, and was %+v", now, stats)
	}
}

func TestPublishCopiesTheSlice(t *testing.T) {
	log := newLog(t)
	ops := []operation{set(1, 1), set(2, 2)}
	publish(t, log, ops...)
	ops[0], ops[1] = set(7, 7), set(8, 8)
	publish(t, log, set(3, 3)) // the first object misses what ops were
	publish(t, log, set(4, 4))
	wantCurrent(t, log, "map[1:1 2:2 3:3 4:4]")
	wantRight(t, log)
}

func TestPublishPanicsWithANilContext(t *testing.T) {
	log := newLog(t)
	var none context.Context
	pooltest.WantPanic(t, "oplog: Publish with a nil Context", func() { log.Publish(none, set(1, 1)) })
	pooltest.WantPanic(t, "oplog: Replace with a nil Context", func() { log.Replace(none, func(*table) error { return nil }) })
	publish(t, log, set(1, 1))
}

func TestAContextThatHasEndedPublishesNothing(t *testing.T) {
	log := newLog(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	before := stateOf(log)
	for range 20 { // the turn is free, and may not be preferred
		if version, err := log.Publish(ctx, call(func(*table) error { t.Error("Apply was called"); return nil })); version != 0 || err != context.Canceled {
			t.Fatalf("Publish returned %d, %v", version, err)
		}
		if version, err := log.Replace(ctx, func(*table) error { t.Error("fill was called"); return nil }); version != 0 || err != context.Canceled {
			t.Fatalf("Replace returned %d, %v", version, err)
		}
	}
	wantUnchanged(t, log, before)
}

func TestPublishWaitsForItsTurnUntilItsContextEnds(t *testing.T) {
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

func TestPublishWaitsForAnObjectUntilItsContextEnds(t *testing.T) {
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

func TestAClosedLogPublishesNothing(t *testing.T) {
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

func TestACloseThatOvertakesPublishWins(t *testing.T) {
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
