package oplog_test

import (
	"context"
	"errors"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/oplog"
)

// apply is Apply, which fails when it is told to, and leaves obj half changed.
func (m *machine) apply(obj *table, op operation) error {
	m.applies--
	if m.applies == -1 {
		m.failed = &op
		spoil(obj)
		return m.fail()
	}
	return applyOperation(obj, op)
}

func (m *machine) copy(dst, src *table) error {
	if m.copyFails {
		m.copying = true
		spoil(dst)
		return m.fail()
	}
	return copyTable(dst, src)
}

// arm chooses how something is to fail, and returns the name of that.
func (m *machine) arm() (way string) {
	n := m.choose(len(failures) + 1)
	if n == len(failures) {
		m.fail = func() error { m.publishPast(); return nil }
		return "conflicts"
	}
	m.fail = failures[n].fail
	return failures[n].name
}

// call makes a call that may panic, or end its goroutine.
func (m *machine) call(way string, fn func() (uint64, error)) (a attempt) {
	if way == "calls Goexit" {
		return try(fn)
	}
	defer func() {
		if value := recover(); value != nil {
			if value != errBad {
				panic(value)
			}
			a.panicked = value
		}
	}()
	a.version, a.err = fn()
	a.returned = true
	return a
}

// wantFailure fails the test unless a call failed as it was told to.
func (m *machine) wantFailure(way string, a attempt) {
	m.t.Helper()
	right := false
	switch way {
	case "returns an error":
		right = a.returned && errors.Is(a.err, errBad)
	case "panics":
		right = a.panicked == errBad
	case "calls Goexit":
		right = !a.returned && a.panicked == nil
	case "conflicts":
		right = a.returned && a.err == poolswap.ErrConflict
	}
	if !right || a.version != 0 {
		m.t.Fatalf("%+v of a call that %s", a, way)
	}
	m.seen[way]++
}

// wantRefusal fails the test unless a call that nothing made fail published
// nothing because its context had ended, or for want of an object.
func (m *machine) wantRefusal(a attempt, ended bool) {
	m.t.Helper()
	switch {
	case ended && a.err == context.Canceled:
		m.seen["ended"]++
	case !ended && m.options.Pool.MaxLive != 0 && errors.Is(a.err, poolswap.ErrLimit):
		m.seen["limit"]++
	default:
		m.t.Fatalf("%+v, and nothing failed (context ended: %v)", a, ended)
	}
}

// wantApplyError fails the test unless e names the operation that failed.
func (m *machine) wantApplyError(e *oplog.ApplyError, ops, known []operation) {
	m.t.Helper()
	if e.Err != errBad {
		m.t.Fatalf("%v, want errBad in it", e)
	}
	if e.Missed > len(known) {
		m.t.Fatalf("%v, and %d are kept", e, len(known))
	}
	if e.Missed > 0 {
		m.seen["missed"]++
		ops = known[len(known)-e.Missed:]
	}
	if e.Index >= len(ops) || ops[e.Index].value != m.failed.value {
		m.t.Fatalf("%v, and it failed for the operation %+v of %+v", e, *m.failed, ops)
	}
}
