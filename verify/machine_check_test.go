package verify_test

import (
	"fmt"
	"runtime"
	"slices"
)

// check compares everything that a user can see with the model. It waits for the
// sweeper and the garbage collector only if the model says that they have work.
func (m *machine) check() {
	m.t.Helper()
	if m.busy != nil && !m.atGate {
		if !m.gate.awaitArrival() {
			m.t.Fatalf("no sweeper came to reset an object on the dirty list")
		}
		m.atGate = true
	}
	if m.swept || m.collecting {
		eventually(func() bool {
			if m.collecting {
				runtime.GC()
			}
			return m.difference() == ""
		})
		m.swept, m.collecting = false, false
	}
	if diff := m.difference(); diff != "" {
		m.t.Fatalf("%s", diff)
	}
	m.mu.Lock()
	m.trail, m.seen.trail = nil, nil
	m.mu.Unlock()
	m.checkObjects()
}

// difference returns where Stats and the hooks differ from the model.
func (m *machine) difference() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.seen.wrong) > 0 {
		return fmt.Sprint(m.seen.wrong)
	}
	if !slices.Equal(m.seen.trail, m.trail) {
		return fmt.Sprintf("hooks were called %v, want %v", m.seen.trail, m.trail)
	}
	slices.Sort(m.seen.reports) // the sweeper and the cleanups report concurrently
	slices.Sort(m.reports)
	if !slices.Equal(m.seen.reports, m.reports) {
		return fmt.Sprintf("reports are %q, want %q", m.seen.reports, m.reports)
	}
	if got, want := m.pool.Stats(), m.accounts(); got != want {
		return fmt.Sprintf("Stats\n got: %+v\nwant: %+v", got, want)
	}
	return ""
}

// checkObjects compares the current objects, the references and the contents.
func (m *machine) checkObjects() {
	m.t.Helper()
	for c, container := range m.containers {
		w := m.acquire(c)
		obj := container.Acquire()
		if m.twinOf(obj) != w {
			m.t.Fatalf("container %d serves %v, want %v", c, m.twinOf(obj), w)
		}
		if w != nil {
			container.Release(obj)
			w.released++
		}
	}
	for _, w := range m.twins {
		want := w.acquired - w.released
		if got := m.pool.Refs(w.obj); got != want {
			m.t.Fatalf("%v has %d references, want %d", w, got, want)
		}
		if w.place == current || w.place == private || want > 0 {
			m.contents(w)
		}
	}
}

func (m *machine) contents(w *twin) {
	m.t.Helper()
	if err := w.obj.check(w.version); err != nil {
		m.t.Fatalf("%v", err)
	}
}

// returned fails unless a call returned obj for w.
func (m *machine) returned(what string, obj *record, w *twin) {
	m.t.Helper()
	switch {
	case w == nil && obj != nil:
		m.t.Fatalf("%s returned record %d, want nil", what, obj.id)
	case w == nil:
	case obj == nil:
		m.t.Fatalf("%s returned nil, want %v", what, w)
	case obj != w.obj || m.twinOf(obj) != w:
		m.t.Fatalf("%s returned record %d, want %v", what, obj.id, w)
	default:
		m.contents(w)
	}
}

// finish lets the sweeper end, also after a failure.
func (m *machine) finish() { m.gate.open() }

// settle opens the gate and checks a last time.
func (m *machine) settle() {
	m.t.Helper()
	m.openGate()
	m.check()
}
