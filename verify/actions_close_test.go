package verify_test

import (
	"context"
	"fmt"
)

// closeContainer closes a container, again and again too, and does not wait.
func (m *machine) closeContainer() bool {
	c := m.pick(2)
	if !m.closed[c] && m.pick(4) != 0 { // a closed container is of little use
		return false
	}
	m.askChanged(c, m.numbers) // Close must wake
	var err error
	out := m.write(func() { err = m.containers[c].Close(newEndsWhenAwaited()) })
	want := m.shut(c)
	what := fmt.Sprintf("Close of container %d", c)
	m.expect(what, out, want)
	if want.returns() {
		m.closedAs(what, err, m.outstanding(m.homes[c]))
	}
	return true
}

// closedAs fails unless Close returned the answer of the model about the objects that
// it waits for.
func (m *machine) closedAs(what string, err error, waited func(*twin) bool) {
	m.t.Helper()
	if m.waits(waited) {
		m.heldAs(what, err, m.heldError("Close", waited))
	} else if err != nil {
		m.t.Fatalf("%s: returned %v, though nothing is outstanding", what, err)
	}
}

// closeContainerLater starts a Close that waits.
func (m *machine) closeContainerLater() bool {
	c := m.pick(2)
	if m.now[c] == nil || len(m.waiters) == 4 || m.pick(4) != 0 {
		return false
	}
	m.acquireFrom(c)
	container := m.containers[c]
	if v := m.shut(c); !v.returns() {
		m.t.Fatalf("an object that is held was recycled: %+v", v)
	}
	waited := m.outstanding(m.homes[c])
	m.later(&waiter{what: fmt.Sprintf("Close of container %d", c), c: c, must: func() bool { return !m.waits(waited) }, ok: isNil},
		func(ctx context.Context) error { return container.Close(ctx) })
	return true
}

// closePool closes the pool, again and again too, and does not wait.
func (m *machine) closePool() bool {
	if !m.poolClosed && m.pick(8) != 0 { // a closed pool is of little use
		return false
	}
	for c := range m.containers {
		m.askChanged(c, m.numbers)
	}
	var err error
	out := m.write(func() { err = m.pool.Close(newEndsWhenAwaited()) })
	want := m.model.closePool()
	m.expect("Close of the pool", out, want)
	if !want.returns() {
		return true
	}
	replaced := m.outstanding(0)
	waited := func(w *twin) bool { return w.place == private || replaced(w) }
	m.closedAs("Close of the pool", err, waited)
	m.trimmed("Close of the pool") // also where the wait fails
	return true
}
