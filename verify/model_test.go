package verify_test

import (
	"fmt"
	"slices"

	"github.com/poolswap/poolswap"
)

// place is where an object is.
type place int

const (
	literal   place = iota // no pool knows it
	private                // a caller owns it
	current                // in a container
	retired                // replaced and held
	clean                  // a spare
	dirty                  // free, not reset
	resetting              // free, in the hands of the sweeper
	overflow               // free, behind the spares
	limbo                  // in the overflow or trimmed from it, only the pool knows
	discarded              // refused, surplus, or trimmed
	lost                   // given up
)

// twin is the model of one object.
type twin struct {
	obj                *record
	id                 int
	fate               fate
	place              place
	version            uint64
	acquired, released int

	number uint64 // what VersionOf says: under which it was last current
	home   int    // the container that published it last
	mark   uint64 // when it was replaced, if it has not come back since; in the order of all
}

func (w *twin) String() string { return fmt.Sprintf("record %d", w.id) }

// verdict is how a call must end. Under the zero verdict it returns.
type verdict struct {
	text  []string // it panics with a text that contains these strings
	value any      // it panics with this value
	exits bool     // it calls runtime.Goexit
	limit bool     // TryGet returns ErrLimit

	closed bool // TryGet returns ErrClosed
}

func (v verdict) returns() bool { return v.text == nil && v.value == nil && !v.exits }

// err is the error that TryGet returns where Get panics.
func (v verdict) err() error {
	switch {
	case v.limit:
		return poolswap.ErrLimit
	case v.closed:
		return poolswap.ErrClosed
	}
	return nil
}

// model is a sequential poolswap without concurrency: one pool, two containers,
// and exact accounts.
type model struct {
	spares    int // the limit; at least this many if it follows
	follows   bool
	peaks     [2]int // most objects that callers owned at a time: in this round of Gets, and in the one before
	gets      int    // of this round
	maxLive   int
	discards  bool // a Discard hook is set
	resets    bool // a reset function is set
	overflows bool // surplus objects go to the overflow

	twins []*twin
	now   [2]*twin // the current objects of the containers
	clean []*twin  // last in, first out
	dirty []*twin  // last in, first out
	busy  *twin    // the sweeper stands in its reset, at the closed gate
	gated bool

	inOverflow int // how many objects the overflow holds at most

	numbers    uint64    // publications of the pool so far
	marks      uint64    // replacements so far
	made       int       // containers so far
	homes      [2]int    // the number of each container among them
	closed     [2]bool   // which containers are closed
	poolClosed bool      // Close of the pool was called
	published  [2]uint64 // how often each container has woken those who wait

	stats   poolswap.Stats // without the figures that follow from the places
	trail   []string       // calls of reset and Discard, in order
	reports []string       // calls of Report, in any order
	swept   bool           // the sweeper, or a goroutine that reports, was started
}

func refusal(op, problem string) verdict {
	return verdict{text: []string{"poolswap: " + op + " of a *verify_test.record ", problem}}
}

// misuse is the verdict on an operation that panics with the counts of the
// object.
func (w *twin) misuse(op, problem string) verdict {
	v := refusal(op, problem)
	v.text = append(v.text, " [object 0x", fmt.Sprintf(", acquired %d times, released %d times]", w.acquired, w.released))
	return v
}

// reportExcess is the report of an object that was released too often. If a
// reader finds it, another goroutine reports it.
func (m *model) reportExcess(w *twin) {
	m.swept = true
	m.reports = append(m.reports, fmt.Sprintf("a *verify_test.record was acquired %d times and released %d times", w.acquired, w.released))
}

func pop(list *[]*twin) *twin {
	last := len(*list) - 1
	if last < 0 {
		return nil
	}
	w := (*list)[last]
	*list = slices.Delete(*list, last, last+1) // leaves no pointer behind that would keep the object alive
	return w
}

// removeFirst removes w from the list, once.
func removeFirst(list *[]*twin, w *twin) {
	if i := slices.Index(*list, w); i >= 0 {
		*list = slices.Delete(*list, i, i+1)
	}
}

// acquire counts a reference to what container c holds.
func (m *model) acquire(c int) *twin {
	w := m.now[c]
	if w != nil {
		w.acquired++
	}
	return w
}

// release is Release of w, by any caller and through any container.
func (m *model) release(w *twin) verdict {
	const op = "Release"
	switch w.place {
	case literal:
		return refusal(op, "that was never published")
	case private:
		w.number = 0
		return m.recycle(w)
	case discarded:
		return w.misuse(op, "that the pool has discarded (released twice?)")
	case current:
		w.released++
	case retired, lost:
		w.released++
		m.stats.Reads.LateReleases++
		m.stats.Reads.SlowChecks++
		if w.place == retired && w.acquired == w.released {
			m.stats.Drained++
			w.place = dirty
			m.dirty = append(m.dirty, w)
			m.sweep()
		}
	default:
		return w.misuse(op, "that is in the pool (released twice?)")
	}
	return verdict{}
}

// update is Update of container c with w, which may be nil.
func (m *model) update(c int, w *twin) verdict {
	if w != nil {
		if m.closed[c] {
			return refusal("Update", "in a closed Container (Close came first; release the object if it came from the pool)")
		}
		if v := m.publish(c, w); !v.returns() {
			return v
		}
	}
	old := m.now[c]
	m.now[c] = w
	return m.retire(old)
}

// retire is what becomes of the object that was current, if there was one.
func (m *model) retire(old *twin) verdict {
	switch {
	case old == nil:
		return verdict{}
	case old.released > old.acquired:
		old.place = lost
		m.stats.Drained++
		m.stats.Lost++
		m.reportExcess(old)
		return verdict{}
	case old.acquired == old.released:
		m.stats.Drained++
		return m.recycle(old)
	}
	old.place = retired
	m.marks++
	old.mark = m.marks
	return verdict{}
}

func (m *model) publish(c int, w *twin) verdict {
	const op = "Update"
	switch w.place {
	case private:
	case literal, discarded:
		m.stats.Adopted++
	case current:
		if m.now[c] == w {
			return w.misuse(op, "that is current already (updated twice?)")
		}
		return w.misuse(op, "that is current in another container")
	case retired:
		return w.misuse(op, "that was replaced and is still held by readers")
	case lost:
		return w.misuse(op, "that the pool gave up")
	default:
		return w.misuse(op, "that is in the pool (released before the update?)")
	}
	w.place = current
	m.numbers++
	w.number, w.home = m.numbers, m.homes[c]
	m.published[c]++
	m.stats.Updates++
	return verdict{}
}

// recycle resets a free object and keeps it or drops it.
func (m *model) recycle(w *twin) verdict {
	kept, v := m.tryReset(w)
	switch {
	case !kept:
	case m.poolClosed:
		m.drop(w)
	case len(m.clean) < m.spareLimit():
		w.place, w.mark = clean, 0
		m.clean = append(m.clean, w)
		return v
	case m.overflows:
		w.place, w.mark = overflow, 0
		m.inOverflow++
	default:
		m.drop(w)
	}
	for kept && len(m.clean) > m.spareLimit() {
		m.drop(pop(&m.clean))
	}
	return v
}

// tryReset resets a free object and reports whether it survived.
func (m *model) tryReset(w *twin) (kept bool, v verdict) {
	if !m.resets {
		return true, verdict{}
	}
	m.trail = append(m.trail, fmt.Sprintf("reset %d", w.id))
	w.version = poisoned
	switch w.fate {
	case fateRefused:
		m.drop(w)
	case fatePanics:
		w.place, v.value = lost, errFate
		m.stats.Lost++
	case fateExits:
		w.place, v.exits = lost, true
		m.stats.Lost++
	}
	return w.fate == fateKept, v
}

func (m *model) drop(w *twin) {
	w.place, w.mark, w.number = discarded, 0, 0
	m.stats.Discarded++
	if m.discards {
		m.trail = append(m.trail, fmt.Sprintf("discard %d", w.id))
	}
}

// sweep runs the sweeper until the dirty list is empty, or until the sweeper is
// at the closed gate.
func (m *model) sweep() {
	m.swept = true
	for m.busy != nil || len(m.dirty) > 0 {
		if m.busy == nil {
			m.busy = pop(&m.dirty)
			m.busy.place = resetting
		}
		if m.gated && m.resets {
			return
		}
		if v := m.recycle(m.busy); v.value != nil {
			m.reports = append(m.reports, fmt.Sprintf("a hook panicked in reset with %v", v.value))
		}
		m.busy = nil
	}
}
