package oplog_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/internal/test/pooltest"
	"github.com/poolswap/poolswap/oplog"
	"github.com/poolswap/poolswap/oplog/oplogtest"
)

// table is the object of the tests: a map, and lists that operations change in
// place.
type table struct {
	poolswap.Ref
	values map[uint16]uint64
	lists  map[uint16][]uint64
}

// longest is how many elements a list can have: the next one makes it begin
// anew, in the same memory.
const longest = 8

// operation changes a table.
type operation struct {
	kind  kind
	key   uint16
	value uint64
	do    func(*table) error // of kind call
}

type kind uint8

const (
	kindSet    kind = iota // the value of key
	kindDelete             // the value and the list of key
	kindAppend             // value to the list of key
	kindAdd                // value to an element of the list of key, in place
	kindCall               // do
)

func set(key uint16, value uint64) operation { return operation{kind: kindSet, key: key, value: value} }
func remove(key uint16) operation            { return operation{kind: kindDelete, key: key} }
func push(key uint16, value uint64) operation {
	return operation{kind: kindAppend, key: key, value: value}
}

func add(key uint16, value uint64) operation { return operation{kind: kindAdd, key: key, value: value} }
func call(do func(*table) error) operation   { return operation{kind: kindCall, do: do} }

func newTable() *table {
	return &table{values: map[uint16]uint64{}, lists: map[uint16][]uint64{}}
}

func applyOperation(t *table, op operation) error {
	switch list := t.lists[op.key]; op.kind {
	case kindSet:
		t.values[op.key] = op.value
	case kindDelete:
		delete(t.values, op.key)
		delete(t.lists, op.key)
	case kindAppend:
		if len(list) == longest {
			list = list[:0]
		}
		t.lists[op.key] = append(list, op.value)
	case kindAdd:
		if len(list) > 0 {
			list[op.value%uint64(len(list))] += op.value
		}
	case kindCall:
		return op.do(t)
	}
	return nil
}

func copyTable(dst, src *table) error {
	clear(dst.values)
	maps.Copy(dst.values, src.values)
	clear(dst.lists)
	for key, list := range src.lists {
		dst.lists[key] = slices.Clone(list)
	}
	return nil
}

func resetTable(t *table) {
	clear(t.values)
	clear(t.lists)
}

func equalTables(a, b *table) bool {
	return maps.Equal(a.values, b.values) && maps.EqualFunc(a.lists, b.lists, slices.Equal[[]uint64])
}

// contentOf returns the values, and the lists if there are some, as text.
func contentOf(t *table) string {
	if t == nil {
		return "nothing"
	}
	if len(t.lists) == 0 {
		return fmt.Sprint(t.values)
	}
	return fmt.Sprint(t.values, " ", t.lists)
}

type (
	tableOptions = oplog.Options[table, operation]
	tableLog     = oplog.Log[table, *table, operation]
)

func newOptions() tableOptions {
	return tableOptions{New: newTable, Apply: applyOperation, Copy: copyTable, Reset: resetTable}
}

// newLog returns a Log of tables. In the end of the test its pool must close:
// nothing is still held.
func newLog(t testing.TB, configure ...func(*tableOptions)) *tableLog {
	t.Helper()
	options := newOptions()
	for _, change := range configure {
		change(&options)
	}
	log, err := oplog.New(options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closeLog(t, log) })
	return log
}

// closeLog closes the pool of log, and fails the test if something is still held.
func closeLog[T any, P poolswap.Object[T], Op any](t testing.TB, log *oplog.Log[T, P, Op]) {
	t.Helper()
	if t.Failed() {
		return // it may have ended with an object in hand
	}
	if held := log.Pool().Stats().Held; held != 0 {
		t.Errorf("%d references were not released", held)
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute) // a hang becomes a failure
	defer cancel()
	if err := log.Pool().Close(ctx); err != nil {
		t.Errorf("closing the pool: %v", err)
	}
}

func keep(n int) func(*tableOptions)    { return func(c *tableOptions) { c.Keep = n } }
func maxLive(n int) func(*tableOptions) { return func(c *tableOptions) { c.Pool.MaxLive = n } }

// publish publishes ops and fails the test unless that succeeds.
func publish(t testing.TB, log *tableLog, ops ...operation) (version uint64) {
	t.Helper()
	version, err := log.Publish(t.Context(), ops...)
	if err != nil || version == 0 {
		t.Fatalf("Publish returned version %d and error %v", version, err)
	}
	return version
}

// current returns the current content, as text.
func current(log *tableLog) (content string) {
	log.Container().WithAcquire(func(obj *table) { content = contentOf(obj) })
	return content
}

// wantCurrent fails the test unless the current object has this content.
func wantCurrent(t testing.TB, log *tableLog, want string) {
	t.Helper()
	if got := current(log); got != want {
		t.Errorf("current is %s, want %s", got, want)
	}
}

// wantRight fails the test unless every free object, brought up, is like the
// current one.
func wantRight(t testing.TB, log *tableLog) {
	t.Helper()
	if err := oplogtest.Verify(log, equalTables); err != nil {
		t.Error(err)
	}
}

// state is the part of a log that a failed call does not change.
type state struct {
	version                        uint64
	content                        string
	publications, operations, keep int
}

func stateOf(log *tableLog) state {
	s := log.Stats()
	return state{log.Container().Version(), current(log), int(s.Publications), int(s.Operations), s.Kept}
}

// wantUnchanged fails the test unless log is as it was.
func wantUnchanged(t testing.TB, log *tableLog, before state) {
	t.Helper()
	if now := stateOf(log); now != before {
		t.Errorf("the log is\n%+v, and was\n%+v", now, before)
	}
}

var errBad = errors.New("bad")

// failures are the ways in which a function of the user's can fail.
var failures = []struct {
	name string
	fail func() error
}{
	{"returns an error", func() error { return errBad }},
	{"panics", func() error { panic(errBad) }},
	{"calls Goexit", func() error { runtime.Goexit(); return nil }},
}

// attempt is the end of a call: it returned, panicked, or neither.
type attempt struct {
	version  uint64
	err      error
	returned bool
	panicked any
}

// try makes a call on a goroutine of its own.
func try(fn func() (uint64, error)) (a attempt) {
	_, a.panicked = pooltest.OnAnother(func() {
		a.version, a.err = fn()
		a.returned = true
	})
	return a
}

// wantFailed fails the test unless a call ended as the way of failing with this
// name makes it end. It reports whether there is an error to look at.
func wantFailed(t *testing.T, name string, a attempt) bool {
	t.Helper()
	switch name {
	case "returns an error":
		if !a.returned || a.version != 0 || !errors.Is(a.err, errBad) {
			t.Fatalf("%+v, want an error", a)
		}
		return true
	case "panics":
		if a.returned || a.panicked != errBad {
			t.Fatalf("%+v, want the panic passed on", a)
		}
	default:
		if a.returned || a.panicked != nil {
			t.Fatalf("%+v, want no return and no panic", a)
		}
	}
	return false
}

// waiting is a context that calls wait when something is about to wait for it.
type waiting struct {
	context.Context
	wait func()
}

func (w waiting) Done() <-chan struct{} {
	w.wait()
	return w.Context.Done()
}

// endsInsteadOfWaiting returns a context that ends when something is about to
// wait for it.
func endsInsteadOfWaiting(t testing.TB) context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	return waiting{ctx, cancel}
}

// spoil changes content that no operation of a test changes, and some that they do,
// as an Apply that fails in the middle.
func spoil(obj *table) {
	obj.values[999]++
	delete(obj.values, 1)
	obj.lists[1] = append(obj.lists[1], 999)
}

// tableWith returns a table that did not come from the pool.
func tableWith(key uint16, value uint64) *table {
	obj := newTable()
	obj.values[key] = value
	return obj
}

// load is a fill of Replace that sets key to value and nothing else.
func load(key uint16, value uint64) func(*table) error {
	return func(obj *table) error { obj.values[key] = value; return nil }
}
