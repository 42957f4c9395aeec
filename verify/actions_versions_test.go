package verify_test

import (
	"context"
	"fmt"
	"slices"
)

// versionOf asks for the version of any object. That of one that is in the pool
// cannot be asked for.
func (m *machine) versionOf() bool {
	w := m.choose(func(w *twin) bool { return w.place != limbo })
	if w == nil {
		return false
	}
	var want verdict
	switch w.place {
	case clean, dirty, resetting, overflow:
		want = w.misuse("VersionOf", "that is in the pool (released before VersionOf?)")
	case discarded:
		want = w.misuse("VersionOf", "that the pool has discarded (released before VersionOf?)")
	}
	var version uint64
	c := m.containers[m.pick(2)]
	what := fmt.Sprintf("VersionOf %v", w)
	m.expect(what, m.read(func() { version = c.VersionOf(w.obj) }), want)
	if want.returns() && version != w.number {
		m.t.Fatalf("%s: %d, want %d", what, version, w.number)
	}
	return true
}

// retain takes one more reference to an object that the test holds.
func (m *machine) retain() bool {
	if len(m.held) == 0 {
		return false
	}
	w := m.held[m.pick(len(m.held))]
	c := m.containers[m.pick(2)]
	var obj *record
	m.expect(fmt.Sprintf("Retain %v", w), m.read(func() { obj = c.Retain(w.obj) }), verdict{})
	m.returned("Retain", obj, w)
	w.acquired++
	m.held = append(m.held, w)
	return true
}

// retainAny calls Retain with an object that the caller does not hold.
func (m *machine) retainAny() bool {
	w := m.choose(func(w *twin) bool {
		return w.place != limbo && w.place != current && w.place != retired && w.place != lost
	})
	if w == nil {
		return false
	}
	const op = "Retain"
	var want verdict
	switch w.place {
	case literal:
		want = refusal(op, "that was never published")
	case private:
		want = w.misuse(op, "that is not published (Retain is for an object that Acquire returned)")
	case discarded:
		want = w.misuse(op, "that the pool has discarded (released before Retain?)")
	default:
		want = w.misuse(op, "that is in the pool (released before Retain?)")
	}
	c := m.containers[m.pick(2)]
	m.expect(fmt.Sprintf("Retain %v, which is not held", w), m.read(func() { c.Retain(w.obj) }), want)
	return true
}

// eachVersion ranges over Versions: it leaves the loop in the first round, or
// ends ctx there, or publishes there and leaves the loop in the second round.
func (m *machine) eachVersion() bool {
	c, end := m.pick(2), m.pick(3)
	container := m.containers[c]
	ctx := newEndsWhenAwaited()
	var next *twin
	switch {
	case m.now[c] == nil && m.pick(2) == 0:
		<-ctx.Done()
	case end == 2 && m.now[c] != nil:
		if next = m.choose(func(w *twin) bool { return w.place == private }); next == nil {
			return false
		}
	}
	var versions []uint64
	var objects []*record
	var wrong string
	out := m.write(func() {
		for version, obj := range container.Versions(ctx) {
			versions, objects = append(versions, version), append(objects, obj)
			if _, err := obj.read(); err != nil || container.VersionOf(obj) != version {
				wrong = fmt.Sprintf("version %d comes with version %d, %v", version, container.VersionOf(obj), err)
			}
			if end == 1 {
				<-ctx.Done()
				continue
			}
			if end == 0 || len(objects) == 2 {
				break
			}
			container.Update(next.obj)
		}
	})
	var wantVersions []uint64
	var wantObjects []*record
	if w := m.model.acquire(c); w != nil {
		wantVersions, wantObjects = append(wantVersions, w.number), append(wantObjects, w.obj)
		if next != nil {
			m.model.update(c, next)
			wantVersions, wantObjects = append(wantVersions, next.number), append(wantObjects, next.obj)
		}
		m.model.release(w)
		if next != nil {
			m.model.release(m.model.acquire(c))
		}
	}
	what := fmt.Sprintf("Versions of container %d that end in way %d", c, end)
	m.expect(what, out, verdict{})
	if wrong != "" || !slices.Equal(versions, wantVersions) || !slices.Equal(objects, wantObjects) {
		m.t.Fatalf("%s: versions %v, want %v; %v objects, want %v. %s", what, versions, wantVersions, len(objects), len(wantObjects), wrong)
	}
	return true
}

// drainLater starts a Drain that waits.
func (m *machine) drainLater() bool {
	waited := m.outstanding(0)
	if !m.waits(waited) || len(m.waiters) == 4 {
		return false
	}
	m.later(&waiter{what: "Drain", c: -1, must: func() bool { return !m.waits(waited) }, ok: isNil},
		func(ctx context.Context) error { return m.pool.Drain(ctx) })
	return true
}

// drainOvertaken starts a Drain that waits for one object, replaces another while
// it waits, and gives the first one back.
func (m *machine) drainOvertaken() bool {
	c := m.pick(2)
	first := m.now[c]
	if first == nil || m.awaited(c) { // a Wait may see the second object, or not
		return false
	}
	m.acquireFrom(c)
	m.updateTwin(c, nil)
	if !m.drainLater() {
		return true
	}
	if second := m.take(2); second != nil {
		m.updateTwin(c, second)
		m.acquireFrom(c)
		m.updateTwin(c, nil)
	}
	for m.holds(first) > 0 {
		m.dropHeld(first)
		m.releaseTwin(first)
	}
	return true
}
