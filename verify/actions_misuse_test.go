package verify_test

import (
	"context"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/internal/test/pooltest"
)

// planFactory chooses the result of the next call of the factory.
func (m *machine) planFactory() bool {
	if m.next != (plan{}) {
		return false
	}
	switch m.pick(5) {
	case 0:
		m.next.panics = true
	case 1:
		m.next.null = true
	case 2:
		m.next.other, m.next.text = m.stranger, "*verify_test.record of another pool"
	case 3:
		w := m.choose(func(w *twin) bool { return w.place == private })
		if w == nil {
			return false
		}
		m.next.other, m.next.text = pooltest.CopyOf(w.obj), "copy of a *verify_test.record"
	case 4:
		m.next.again = m.choose(func(w *twin) bool { return w.place != limbo })
		if m.next.again == nil {
			return false
		}
	}
	return true
}

// planned returns the result of the next call of the factory. It gives up a plan to
// return an object that may be in the overflow: only the pool would know whether it
// came from there or from the factory.
func (m *machine) planned() plan {
	if w := m.next.again; w != nil && w.place == limbo {
		m.next = plan{}
	}
	return m.next
}

// strangers passes an object of another pool or a copy, which must panic, or nil,
// which must do nothing.
func (m *machine) strangers() bool {
	obj, problem := m.stranger, "of another pool"
	kind := m.pick(3)
	if kind == 1 {
		w := m.choose(func(w *twin) bool { return w.place == private })
		if w == nil {
			return false
		}
		obj, problem = pooltest.CopyOf(w.obj), "of a copy of"
	}
	at := m.pick(2)
	c := m.containers[at]
	if kind == 2 {
		m.expect("Release of nil", m.write(func() {
			c.Release(nil)
			m.pool.Release(nil)
			if refs := m.pool.Refs(nil); refs != 0 {
				panic(refs)
			}
			if c.Retain(nil) != nil || c.VersionOf(nil) != 0 {
				panic("Retain or VersionOf of nil")
			}
		}), verdict{})
		return true
	}
	for _, call := range []struct {
		op string
		fn func()
	}{
		{"Release", func() { c.Release(obj) }},
		{"Release", func() { m.pool.Release(obj) }},
		{"Update", func() { c.Update(obj) }},
		{"Refs", func() { m.pool.Refs(obj) }},
		{"NewContainer", func() { poolswap.NewContainer(m.pool, obj) }},
		{"Retain", func() { c.Retain(obj) }},
		{"VersionOf", func() { c.VersionOf(obj) }},
	} {
		op, problem := call.op, problem
		switch {
		case op == "Update" && m.closed[at]:
			problem = "in a closed Container"
		case op == "NewContainer" && m.poolClosed:
			m.expect(op+" of a stranger", m.write(call.fn), verdict{text: []string{"poolswap: NewContainer with a closed Pool"}})
			continue
		}
		want := verdict{text: []string{"poolswap: " + op + " of a ", "*verify_test.record", problem}}
		m.expect(op+" of a stranger", m.write(call.fn), want)
	}
	return true
}

// overRelease releases a current object once too often and then replaces it. The
// Update must find that.
func (m *machine) overRelease() bool {
	c := m.pick(2)
	w := m.now[c]
	if w == nil || w.released > w.acquired {
		return false
	}
	for m.holds(w) > 0 {
		m.dropHeld(w)
	}
	for w.released <= w.acquired {
		m.releaseTwin(w)
	}
	m.updateTwin(c, nil)
	return true
}

// unmade uses zero values, copies and impossible options, which must panic.
func (m *machine) unmade() bool {
	type (
		pool      = poolswap.Pool[record, *record]
		container = poolswap.Container[record, *record]
		options   = poolswap.Options[record]
	)
	var never context.Context
	ended := newEndsWhenAwaited()
	fill := func(*record, *record) error { panic("fill was called") }
	makePool := func(o options) { poolswap.NewPoolWithOptions(m.factory, m.reset, o) }
	misuses := []struct {
		text string
		fn   func()
	}{
		{"Acquire of a zero Container", func() { new(container).Acquire() }},
		{"Acquire of a zero Container", func() { new(container).WithAcquire(func(*record) {}) }},
		{"Release of a zero Container", func() { new(container).Release(new(record)) }},
		{"GetNew of a zero Container", func() { new(container).GetNew() }},
		{"Update of a zero Container", func() { new(container).Update(nil) }},
		{"NewReader of a zero Container", func() { new(container).NewReader() }},
		{"Get of a zero Pool", func() { new(pool).Get() }},
		{"Release of a zero Pool", func() { new(pool).Release(new(record)) }},
		{"Refs of a zero Pool", func() { new(pool).Refs(nil) }},
		{"Trim of a zero Pool", func() { new(pool).Trim() }},
		{"Stats of a zero Pool", func() { new(pool).Stats() }},
		{"NewContainer of a zero Pool", func() { poolswap.NewContainer(new(pool), nil) }},
		{"NewEmptyContainer of a zero Pool", func() { poolswap.NewEmptyContainer(new(pool)) }},
		{"NewContainer with a nil Pool", func() { poolswap.NewContainer[record](nil, nil) }},
		{"Acquire of a copy of a Container", func() { m.copied.Acquire() }},
		{"GetNew of a copy of a Container", func() { m.copied.GetNew() }},
		{"Update of a copy of a Container", func() { m.copied.Update(nil) }},
		{"NewReader of a copy of a Container", func() { m.copied.NewReader() }},
		{"Get of a copy of a Pool", func() { m.poolCopy.Get() }},
		{"Refs of a copy of a Pool", func() { m.poolCopy.Refs(nil) }},
		{"Trim of a copy of a Pool", func() { m.poolCopy.Trim() }},
		{"Stats of a copy of a Pool", func() { m.poolCopy.Stats() }},
		{"TryGet of a copy of a Pool", func() { _, _ = m.poolCopy.TryGet() }},
		{"NewEmptyContainer of a copy of a Pool", func() { poolswap.NewEmptyContainer(m.poolCopy) }},
		{"Publish of a zero Container", func() { _, _ = new(container).Publish(ended, fill) }},
		{"VersionOf of a zero Container", func() { new(container).VersionOf(nil) }},
		{"Changed of a zero Container", func() { new(container).Changed(0) }},
		{"Wait of a zero Container", func() { _, _ = new(container).Wait(ended, 0) }},
		{"Versions of a zero Container", func() { new(container).Versions(ended) }},
		{"Retain of a zero Container", func() { new(container).Retain(nil) }},
		{"Close of a zero Container", func() { _ = new(container).Close(ended) }},
		{"Drain of a zero Pool", func() { _ = new(pool).Drain(ended) }},
		{"Close of a zero Pool", func() { _ = new(pool).Close(ended) }},
		{"Publish of a copy of a Container", func() { _, _ = m.copied.Publish(ended, fill) }},
		{"VersionOf of a copy of a Container", func() { m.copied.VersionOf(nil) }},
		{"Changed of a copy of a Container", func() { m.copied.Changed(0) }},
		{"Wait of a copy of a Container", func() { _, _ = m.copied.Wait(ended, 0) }},
		{"Versions of a copy of a Container", func() { m.copied.Versions(ended) }},
		{"Retain of a copy of a Container", func() { m.copied.Retain(nil) }},
		{"Close of a copy of a Container", func() { _ = m.copied.Close(ended) }},
		{"Drain of a copy of a Pool", func() { _ = m.poolCopy.Drain(ended) }},
		{"Close of a copy of a Pool", func() { _ = m.poolCopy.Close(ended) }},
		{"Publish with a nil Context", func() { _, _ = m.containers[0].Publish(never, fill) }},
		{"Publish with a nil fill", func() { _, _ = m.containers[0].Publish(ended, nil) }},
		{"Wait with a nil Context", func() { _, _ = m.containers[0].Wait(never, 0) }},
		{"Versions with a nil Context", func() { m.containers[0].Versions(never) }},
		{"Close with a nil Context", func() { _ = m.containers[0].Close(never) }},
		{"Drain with a nil Context", func() { _ = m.pool.Drain(never) }},
		{"Close with a nil Context", func() { _ = m.pool.Close(never) }},
		{"with a nil factory", func() { poolswap.NewPool[record](nil, m.reset) }},
		{"with Options.Spares -2", func() { makePool(options{Spares: -2}) }},
		{"with Options.MaxLive -1", func() { makePool(options{MaxLive: -1}) }},
	}
	chosen := misuses[m.pick(len(misuses))]
	m.expect(chosen.text, m.write(chosen.fn), verdict{text: []string{"poolswap: ", chosen.text}})
	return true
}
