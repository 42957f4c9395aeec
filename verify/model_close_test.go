package verify_test

import (
	"slices"

	"github.com/poolswap/poolswap"
)

// isBack reports whether w, which was replaced before so many replacements, is
// reset, discarded, given up or in use again.
func (w *twin) isBack(marks uint64) bool {
	return w.mark == 0 || w.mark > marks || w.place == lost
}

// outstanding are the replaced objects that Drain waits for, and Close of the
// container of that number, or of any container for 0.
func (m *model) outstanding(home int) func(*twin) bool {
	marks := m.marks
	return func(w *twin) bool { return !w.isBack(marks) && (home == 0 || w.home == home) }
}

// waits reports whether op waits for some object.
func (m *model) waits(waited func(*twin) bool) bool { return slices.ContainsFunc(m.twins, waited) }

// heldError returns what op, which waited in vain for these objects, says of them.
// Longest and Err are left out.
func (m *model) heldError(op string, waited func(*twin) bool) poolswap.HeldError {
	e := poolswap.HeldError{Op: op, Type: "*verify_test.record"}
	for _, w := range m.twins {
		switch {
		case !waited(w):
		case w.place == current:
			e.Current++
		case w.place == private:
			e.Private++
		case w.place == dirty, w.place == resetting:
			e.Resetting++
		case w.place == retired:
			e.Objects++
			e.References += max(0, w.acquired-w.released)
			e.Versions = append(e.Versions, w.number)
		}
	}
	slices.Sort(e.Versions)
	return e
}

// shut is Close of container c, without the wait.
func (m *model) shut(c int) verdict {
	if m.closed[c] {
		return verdict{}
	}
	m.closed[c] = true
	m.published[c]++
	old := m.now[c]
	m.now[c] = nil
	return m.retire(old)
}

// closePool is Close of the pool, without the wait and what follows it. It
// closes the containers in the order in which they were made. If a reset panics,
// the other containers stay open.
func (m *model) closePool() verdict {
	m.poolClosed = true
	first := 0
	if m.homes[1] < m.homes[0] {
		first = 1
	}
	if v := m.shut(first); !v.returns() {
		return v
	}
	return m.shut(1 - first)
}

// replaced makes container c a new one, which is empty.
func (m *model) replaced(c int) {
	m.made++
	m.homes[c], m.closed[c], m.published[c] = m.made, false, 0
}
