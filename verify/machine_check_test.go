package verify_test

import (
	"cmp"
	"fmt"
	"runtime"
	"slices"

	"github.com/poolswap/poolswap/internal/test/pooltest"
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
			return m.difference() == "" && m.drainDifference() == ""
		})
		m.swept, m.collecting = false, false
	}
	if diff := cmp.Or(m.difference(), m.drainDifference()); diff != "" {
		m.t.Fatalf("%s", diff)
	}
	m.mu.Lock()
	m.trail, m.seen.trail = nil, nil
	m.mu.Unlock()
	m.checkObjects()
	m.checkWaiters()
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
	got, want := m.pool.Stats(), m.accounts()
	if !pooltest.Same(got, want) {
		return fmt.Sprintf("Stats\n got: %+v\nwant: %+v", got, want)
	}
	if got.OldestRetired < 0 || got.Retired == 0 && got.OldestRetired != 0 {
		return fmt.Sprintf("OldestRetired is %v, with %d retired", got.OldestRetired, got.Retired)
	}
	return ""
}

// drainDifference returns where a Drain that does not wait differs from the
// model.
func (m *machine) drainDifference() string {
	err := m.pool.Drain(newEndsWhenAwaited())
	waited := m.outstanding(0)
	if m.waits(waited) {
		return heldDifference(err, m.heldError("Drain", waited))
	}
	if err != nil {
		return fmt.Sprintf("Drain returned %v, though nothing is outstanding", err)
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
		if got, want := container.Version(), w.versionNumber(); got != want {
			m.t.Fatalf("container %d has the version %d, want %d", c, got, want)
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

// finish lets the sweeper and all that wait end, also after a failure.
func (m *machine) finish() {
	m.gate.open()
	for _, w := range m.waiters {
		w.cancel()
		<-w.ended
	}
}

// settle opens the gate and checks a last time.
func (m *machine) settle() {
	m.t.Helper()
	m.openGate()
	m.check()
}
