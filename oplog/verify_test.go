package oplog_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/internal/test/pooltest"
	"github.com/poolswap/poolswap/oplog/oplogtest"
)

// freeObjects publishes until n objects of different versions are free beside
// the current one, all with a list at 1. Each missed operations that the log
// keeps.
func freeObjects(t *testing.T, log *tableLog, n int) {
	t.Helper()
	publish(t, log, push(1, 1), push(1, 2))
	var held []*table
	for i := range n {
		held = append(held, log.Container().Acquire())
		publish(t, log, add(1, uint64(i)), set(2, uint64(i)))
	}
	publish(t, log, add(1, 100))
	publish(t, log, add(1, 1000))
	for _, obj := range held {
		log.Container().Release(obj)
	}
	pooltest.Settled(t, log.Pool(), 0)
}

// enough is a pool that keeps all objects of freeObjects.
func enough(c *tableOptions) { c.Pool.Spares = 10 }

func TestVerifyOfRightLog(t *testing.T) {
	for _, n := range []int{1, 2, 5} {
		for _, kept := range []int{1, 4, 100} {
			log := newLog(t, enough, keep(kept))
			freeObjects(t, log, n)
			looked := map[*table]bool{}
			err := oplogtest.Verify(log, func(a, b *table) bool {
				like := equalTables(a, b)
				if like { // and not one that was emptied for the comparison
					looked[a] = true
				}
				if refs := log.Pool().Refs(b); refs != 1 {
					t.Errorf("%d references to the current object", refs)
				}
				return like
			})
			if err != nil || len(looked) != n+1 {
				t.Errorf("with %d old versions it looked at %d objects and returned %v", n, len(looked), err)
			}
			before := log.Stats()
			wantRight(t, log) // objects that were given back unpublished
			if copies := log.Stats().Copies - before.Copies; copies != uint64(n+1) {
				t.Errorf("the second time %d of %d objects were copied", copies, n+1)
			}
			publish(t, log, push(1, 7))
		}
	}
}

func TestVerifyFindsFaults(t *testing.T) {
	calls := uint64(0)
	for name, configure := range map[string]func(*tableOptions){
		"an Apply that is not deterministic": func(c *tableOptions) {
			c.Apply = func(obj *table, op operation) error {
				calls++
				op.value += calls
				return applyOperation(obj, op)
			}
		},
		"a Copy that shares": func(c *tableOptions) {
			c.Copy = func(dst, src *table) error {
				copyTable(dst, src)
				for key, list := range src.lists {
					dst.lists[key] = list
				}
				return nil
			}
		},
		"a Copy that forgets": func(c *tableOptions) {
			c.Copy = func(dst, src *table) error {
				clear(dst.lists)
				for key, list := range src.lists {
					dst.lists[key] = slices.Clone(list)
				}
				return nil
			}
		},
		"a Copy that leaves old content": func(c *tableOptions) {
			c.Keep = 1
			c.Copy = func(dst, src *table) error {
				for key, value := range src.values {
					dst.values[key] = value
				}
				for key, list := range src.lists {
					dst.lists[key] = slices.Clone(list)
				}
				return nil
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			log := newLog(t, enough, configure)
			freeObjects(t, log, 3)
			for key := range uint16(5) { // the free objects have keys that current has not
				publish(t, log, set(10+key, 1))
				publish(t, log, remove(10+key), set(30, 1))
			}
			err := oplogtest.Verify(log, equalTables)
			if err == nil {
				t.Fatal("Verify found nothing")
			}
			var version, now uint64
			if n, _ := fmt.Sscanf(err.Error(), "oplogtest: an object of version %d, brought up, differs from the current one of version %d", &version, &now); n != 2 || now != log.Container().Version() {
				t.Errorf("the text is %q", err)
			}
			if _, err := log.Publish(endsInsteadOfWaiting(t), set(1, 1)); err != nil {
				t.Errorf("Publish after Verify: %v", err)
			}
			if stats := pooltest.Settled(t, log.Pool(), 0); stats.Spares != stats.Live-1 {
				t.Errorf("Verify kept objects: %+v", stats)
			}
		})
	}
}

func TestVerifyFindsBadReset(t *testing.T) {
	log := newLog(t, func(c *tableOptions) { c.Reset = func(*table) {} })
	publish(t, log, set(1, 1))
	const want = "oplogtest: after Reset an object is still like the current one: they share content, or Reset does not empty it"
	if err := oplogtest.Verify(log, equalTables); err == nil || err.Error() != want {
		t.Errorf("Verify returned %v", err)
	}
}

// TestVerifyReturnsErrors of Apply and Copy, and gives back all objects.
func TestVerifyReturnsErrors(t *testing.T) {
	for name, want := range map[string]string{
		"Apply": "oplog: operation 0 of 1 that a recycled object had missed failed, though it was published before (is Apply deterministic?): bad",
		"Copy":  "oplog: copying version 3: bad",
	} {
		t.Run(name, func(t *testing.T) {
			failing := false
			log := newLog(t, func(c *tableOptions) {
				c.Copy = func(dst, src *table) error {
					if failing {
						return errBad
					}
					return copyTable(dst, src)
				}
			})
			publish(t, log, set(1, 1))
			publish(t, log, call(func(*table) error {
				if failing {
					return errBad
				}
				return nil
			}))
			if name == "Copy" {
				log.Pool().Release(log.Pool().Get()) // it is in doubt now
			}
			failing = true
			if err := oplogtest.Verify(log, equalTables); err == nil || err.Error() != want {
				t.Errorf("Verify returned %v, want %s", err, want)
			}
			failing = false
			publish(t, log, set(2, 2))
			wantCurrent(t, log, "map[1:1 2:2]")
			wantRight(t, log)
		})
	}
}

func TestVerifyPassesPanicOfEqual(t *testing.T) {
	log := newLog(t)
	publish(t, log, set(1, 1))
	pooltest.WantPanic(t, "bad", func() { oplogtest.Verify(log, func(a, b *table) bool { panic(errBad) }) })
	if _, err := log.Publish(endsInsteadOfWaiting(t), set(2, 2)); err != nil {
		t.Error(err)
	}
	wantRight(t, log)
}

func TestVerifyMakesAnObjectIfNoneIsFree(t *testing.T) {
	copies := 0
	log := newLog(t, func(c *tableOptions) {
		c.Copy = func(dst, src *table) error { copies++; return copyTable(dst, src) }
	})
	wantRight(t, log)
	if copies != 1 {
		t.Errorf("it copied %d times", copies)
	}
}

func TestVerifyWithNilEqual(t *testing.T) {
	log := newLog(t)
	pooltest.WantPanic(t, "oplogtest: Verify with a nil equal", func() { oplogtest.Verify(log, nil) })
}

func TestVerifyOfEmptyAndClosedLog(t *testing.T) {
	never := func(a, b *table) bool { t.Error("equal was called"); return false }
	log := newLog(t)
	publish(t, log, set(1, 1))
	log.Container().Update(nil)
	if err := oplogtest.Verify(log, never); err != nil {
		t.Error(err)
	}
	if err := log.Container().Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	if err := oplogtest.Verify(log, never); err != nil {
		t.Error(err)
	}
}

func TestVerifyOfClosingPool(t *testing.T) {
	log := newLog(t, enough)
	freeObjects(t, log, 3)
	ended, end := context.WithCancel(t.Context())
	end()
	looked := 0
	err := oplogtest.Verify(log, func(a, b *table) bool {
		log.Pool().Close(ended)
		if !equalTables(a, b) {
			return false // it was emptied for the comparison
		}
		looked++
		return true
	})
	if err != nil || looked != 1 {
		t.Errorf("it looked at %d objects and returned %v", looked, err)
	}
}

func TestVerifyKeepsMaxLive(t *testing.T) {
	log := newLog(t, maxLive(3), keep(2))
	publish(t, log, push(1, 1))
	held := log.Container().Acquire()
	publish(t, log, push(1, 2))
	wantRight(t, log)
	log.Container().Release(held)
	publish(t, log, push(1, 3))
	wantRight(t, log)
	if stats := log.Pool().Stats(); stats.Live > 3 {
		t.Errorf("%+v", stats)
	}
}

// TestVerifyBesidePublishers, some of them past the log, and beside readers.
func TestVerifyBesidePublishers(t *testing.T) {
	log := newLog(t, keep(4))
	var wg sync.WaitGroup
	const rounds = 300
	for range 2 {
		wg.Go(func() {
			for i := range rounds {
				if _, err := log.Publish(t.Context(), push(1, uint64(i)), add(1, 1)); err != nil && err != poolswap.ErrConflict {
					t.Error(err)
				}
			}
		})
	}
	wg.Go(func() {
		for i := range rounds / 10 {
			_, err := log.Container().Publish(t.Context(), func(next, current *table) error {
				copyTable(next, current)
				next.values[2] = uint64(i)
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		}
	})
	wg.Go(func() {
		for range rounds {
			obj := log.Container().Acquire()
			_ = contentOf(obj)
			log.Container().Release(obj)
		}
	})
	for range rounds {
		wantRight(t, log)
	}
	wg.Wait()
	wantRight(t, log)
}
