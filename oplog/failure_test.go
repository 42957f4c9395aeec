package oplog_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/oplog"
)

// spoil changes what no operation of a test changes, and a little of what they
// do, as an Apply does that fails in the middle.
func spoil(obj *table) {
	obj.values[999]++
	delete(obj.values, 1)
	obj.lists[1] = append(obj.lists[1], 999)
}

// TestAnApplyThatFailsLeavesTheLogAsItWas, at each index, in each way; the object
// that is half changed is made anew by Copy.
func TestAnApplyThatFailsLeavesTheLogAsItWas(t *testing.T) {
	const operations = 5
	for _, way := range failures {
		for index := range operations {
			t.Run(fmt.Sprint("operation ", index, " ", way.name), func(t *testing.T) {
				log := newLog(t)
				publish(t, log, set(1, 1))
				publish(t, log, push(1, 10))
				publish(t, log, push(1, 11)) // two objects alternate now
				before, copies := stateOf(log), log.Stats().Copies

				var ops []operation
				for i := range operations {
					ops = append(ops, push(1, 100+uint64(i)))
				}
				ops[index] = call(func(obj *table) error { spoil(obj); return way.fail() })
				a := try(func() (uint64, error) { return log.Publish(t.Context(), ops...) })
				if wantFailed(t, way.name, a) {
					var e *oplog.ApplyError
					if !errors.As(a.err, &e) || e.Index != index || e.Missed != 0 || e.Err != errBad {
						t.Errorf("%#v", a.err)
					}
					if want := fmt.Sprintf("oplog: operation %d: bad", index); a.err.Error() != want {
						t.Errorf("the text is %q, want %q", a.err, want)
					}
				}
				wantUnchanged(t, log, before)

				publish(t, log, push(1, 12))
				if now := log.Stats().Copies; now != copies+1 {
					t.Errorf("%d copies, and were %d", now, copies)
				}
				wantCurrent(t, log, "map[1:1] map[1:[10 11 12]]")
				publish(t, log, push(1, 13))
				if now := log.Stats().Copies; now != copies+1 {
					t.Errorf("one more publication: %d copies, and were %d", now, copies)
				}
				wantCurrent(t, log, "map[1:1] map[1:[10 11 12 13]]")
				wantRight(t, log)
			})
		}
	}
}

// TestAnErrorOfAnotherContainerIsNoEndOfTheLog: what Apply, Copy and the ops of
// PublishFunc return can match the errors of the log's own container.
func TestAnErrorOfAnotherContainerIsNoEndOfTheLog(t *testing.T) {
	for _, of := range []error{poolswap.ErrClosed, poolswap.ErrConflict, poolswap.ErrLimit, fmt.Errorf("another: %w", poolswap.ErrClosed)} {
		t.Run(of.Error(), func(t *testing.T) {
			copies := false
			log := newLog(t, func(c *tableConfig) {
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
			copies = true // of what Apply spoiled
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

// TestAnApplyThatFailsForWhatAnObjectMissed, at each index, in each way.
func TestAnApplyThatFailsForWhatAnObjectMissed(t *testing.T) {
	const operations = 4
	for _, way := range failures {
		for index := range operations {
			t.Run(fmt.Sprint("operation ", index, " ", way.name), func(t *testing.T) {
				failing := false
				log := newLog(t)
				publish(t, log, set(1, 1))
				publish(t, log, push(1, 10))
				var ops []operation
				for i := range operations {
					ops = append(ops, push(1, 20+uint64(i)))
				}
				ops[index] = call(func(obj *table) error {
					if failing {
						spoil(obj)
						return way.fail()
					}
					obj.values[7]++
					return nil
				})
				publish(t, log, ops...)
				before, copies := stateOf(log), log.Stats().Copies

				failing = true
				a := try(func() (uint64, error) { return log.Publish(t.Context(), push(1, 30), push(1, 31)) })
				if wantFailed(t, way.name, a) {
					var e *oplog.ApplyError
					if !errors.As(a.err, &e) || e.Index != index || e.Missed != operations || e.Err != errBad {
						t.Errorf("%#v", a.err)
					}
					want := fmt.Sprintf("oplog: operation %d of 4 that a recycled object had missed failed, though it was published before (is Apply deterministic?): bad", index)
					if a.err.Error() != want {
						t.Errorf("the text is\n%s, want\n%s", a.err, want)
					}
				}
				wantUnchanged(t, log, before)

				// The object is in doubt, so it is copied, and the operation is
				// applied to no other: nothing fails any more.
				publish(t, log, push(1, 40))
				if now := log.Stats().Copies; now != copies+1 {
					t.Errorf("%d copies, and were %d", now, copies)
				}
				failing = false
				publish(t, log, push(2, 41))
				oracle := newTable()
				for _, op := range []operation{set(1, 1), push(1, 10)} {
					applyOperation(oracle, op)
				}
				for _, op := range append(ops, push(1, 40), push(2, 41)) {
					applyOperation(oracle, op)
				}
				wantCurrent(t, log, contentOf(oracle))
				wantRight(t, log)
			})
		}
	}
}

// TestACopyThatFailsLeavesTheLogAsItWas, in each way, when it has copied half.
func TestACopyThatFailsLeavesTheLogAsItWas(t *testing.T) {
	for _, way := range failures {
		t.Run(way.name, func(t *testing.T) {
			failing := false
			log := newLog(t, func(c *tableConfig) {
				c.Copy = func(dst, src *table) error {
					if failing {
						spoil(dst)
						return way.fail()
					}
					return copyTable(dst, src)
				}
			})
			publish(t, log, set(1, 1))
			publish(t, log, push(1, 10))
			held := log.Container().Acquire() // with the other one free
			publish(t, log, push(1, 11))
			before := stateOf(log)

			failing = true // for the new object
			for range 3 {
				a := try(func() (uint64, error) { return log.Publish(t.Context(), push(1, 12)) })
				if wantFailed(t, way.name, a) {
					if want := fmt.Sprintf("oplog: copying version %d: bad", before.version); a.err.Error() != want {
						t.Errorf("the text is %q, want %q", a.err, want)
					}
					var e *oplog.ApplyError
					if errors.As(a.err, &e) {
						t.Error("the error of Copy is an ApplyError")
					}
				}
				wantUnchanged(t, log, before)
			}
			failing = false
			publish(t, log, push(1, 13))
			wantCurrent(t, log, "map[1:1] map[1:[10 11 13]]")
			if contentOf(held) != "map[1:1] map[1:[10]]" {
				t.Errorf("a reader reads %s", contentOf(held))
			}
			log.Container().Release(held)
			wantRight(t, log)
		})
	}
}

// TestAFailureDoesNotTakeTheTurn: the next publisher waits for nothing.
func TestAFailureDoesNotTakeTheTurn(t *testing.T) {
	for _, way := range failures {
		t.Run(way.name, func(t *testing.T) {
			log := newLog(t)
			wantFailed(t, way.name, try(func() (uint64, error) {
				return log.Publish(t.Context(), call(func(*table) error { return way.fail() }))
			}))
			wantFailed(t, way.name, try(func() (uint64, error) {
				return log.Replace(t.Context(), func(*table) error { return way.fail() })
			}))
			if _, err := log.Publish(endsInsteadOfWaiting(t), set(1, 1)); err != nil {
				t.Error(err)
			}
		})
	}
}
