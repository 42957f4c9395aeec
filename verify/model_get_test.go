package verify_test

import (
	"errors"
	"fmt"
	"runtime"
	"slices"

	"github.com/poolswap/poolswap"
)

// The hooks of these tests panic with these errors.
var (
	errFate    = errors.New("reset panics")
	errFactory = errors.New("the factory panics")
)

// plan is the next result of the factory.
type plan struct {
	panics bool    // it panics
	null   bool    // it returns nil
	again  *twin   // it returns an object that exists already
	other  *record // it returns an object of another pool, or a copy
	text   string  // what Get says of that
}

// get is Get or TryGet, which returned got. The model takes two things from got
// that only the pool knows: whether the overflow had an object left, and the
// address of a new object.
func (m *model) get(got *record, p plan) (w *twin, v verdict) {
	if m.poolClosed {
		return nil, verdict{closed: true, text: []string{"poolswap: Get from the closed pool of *verify_test.record"}}
	}
	w, v = m.takeFree(got)
	if w == nil && v.returns() {
		w, v = m.create(got, p)
	}
	if w != nil {
		w.place, w.mark = private, 0
		m.countGet()
	}
	return w, v
}

// roundOfGets is after how many Gets a peak of the one before is forgotten.
const roundOfGets = 128

// countGet notes how many objects callers own after a Get.
func (m *model) countGet() {
	owned := 0
	for _, w := range m.twins {
		if w.place == private {
			owned++
		}
	}
	m.peaks[0] = max(m.peaks[0], owned)
	if m.gets++; m.gets == roundOfGets {
		m.gets, m.peaks = 0, [2]int{0, m.peaks[0]}
	}
}

// spareLimit is how many clean objects are kept.
func (m *model) spareLimit() int {
	if !m.follows {
		return m.spares
	}
	return min(max(m.spares, m.peaks[0], m.peaks[1]), max(16, 2*runtime.GOMAXPROCS(0)))
}

func (m *model) takeFree(got *record) (*twin, verdict) {
	if w := pop(&m.clean); w != nil {
		return w, verdict{}
	}
	for w := pop(&m.dirty); w != nil; w = pop(&m.dirty) {
		kept, v := m.tryReset(w)
		if kept && m.spares > 0 {
			return w, v
		}
		if kept {
			m.drop(w) // as the sweeper would have
		}
		if !v.returns() {
			return nil, v
		}
	}
	if w := m.twinOf(got); w != nil && m.inOverflow > 0 && (w.place == overflow || w.place == limbo) {
		m.inOverflow--
		w.place = private // before the others are known to be discarded
		m.settleLimbo()
		return w, verdict{}
	}
	return nil, verdict{}
}

// create is the part of Get that needs the factory.
func (m *model) create(got *record, p plan) (*twin, verdict) {
	const op = "Get"
	if m.full() {
		now := m.accounts()
		return nil, verdict{limit: true, text: []string{
			fmt.Sprintf("poolswap: Get from the pool of *verify_test.record: %d objects are live, as many as Options.MaxLive allows, and none is free", m.maxLive),
			fmt.Sprintf("%d are current, %d were replaced and are held by readers, %d are being reset or discarded", now.Current, now.Retired, now.Resetting),
		}}
	}
	w := p.again
	switch {
	case p.panics:
		return nil, verdict{value: errFactory}
	case p.null:
		return nil, verdict{text: []string{"poolswap: the factory of the pool of *verify_test.record returned nil"}}
	case p.other != nil:
		return nil, verdict{text: []string{"poolswap: Get of a ", p.text}}
	case w == nil:
		w = &twin{obj: got}
		if got != nil {
			w.id = got.id
		}
		m.twins = append(m.twins, w)
	case w.place != literal && w.place != discarded:
		return nil, w.misuse(op, "that is in use (the factory returned the same object twice?)")
	}
	m.stats.Created++
	return w, verdict{}
}

// full reports whether no object may be created.
func (m *model) full() bool { return m.maxLive > 0 && m.live() >= m.maxLive }

func (m *model) live() int {
	s := m.stats
	return int(s.Created + s.Adopted - s.Discarded - s.Lost - s.Collected)
}

// trim is Trim, which discarded so many objects: all clean ones, and those in the
// overflow that the pool could reach. It reports whether the number is possible.
func (m *model) trim(dropped int) bool {
	for w := pop(&m.clean); w != nil; w = pop(&m.clean) {
		m.drop(w)
		dropped--
	}
	if dropped < 0 || dropped > m.inOverflow {
		return false
	}
	m.stats.Discarded += uint64(dropped)
	m.inOverflow -= dropped
	if dropped > 0 {
		for _, w := range m.twins {
			if w.place == overflow {
				w.place = limbo
			}
		}
		m.settleLimbo()
	}
	return true
}

// settleLimbo marks objects in limbo as discarded once the overflow is empty.
func (m *model) settleLimbo() {
	if m.inOverflow > 0 {
		return
	}
	for _, w := range m.twins {
		if w.place == limbo {
			w.place, w.number = discarded, 0
		}
	}
}

// forget is the garbage collector finding w, which the test no longer refers to.
func (m *model) forget(w *twin) {
	removeFirst(&m.twins, w)
	for c := range m.now {
		if m.now[c] == w {
			m.now[c] = nil
		}
	}
	switch w.place {
	case literal, discarded, lost:
		return // settled before
	case retired, current:
		m.stats.Drained++
	}
	m.stats.Collected++
	switch held := w.acquired - w.released; {
	case held > 0:
		m.stats.Leaked++
		m.reports = append(m.reports, fmt.Sprintf("a *verify_test.record leaked, held %d times", held))
	case held < 0:
		m.reportExcess(w)
	}
}

// accounts returns what Stats must return.
func (m *model) accounts() poolswap.Stats {
	s := m.stats
	s.Live = m.live()
	s.Spares = len(m.clean)
	s.SpareLimit = m.spareLimit()
	s.PendingReset = len(m.dirty)
	for _, w := range m.twins {
		s.Held += max(0, w.acquired-w.released)
		switch w.place {
		case current:
			s.Current++
			s.Versions = append(s.Versions, w.number)
		case retired:
			s.Retired++
		case resetting:
			if m.gated && m.resets {
				s.Resetting++
			}
		}
	}
	slices.Sort(s.Versions)
	return s
}

func (m *model) twinOf(obj *record) *twin {
	if obj != nil {
		for _, w := range m.twins {
			if w.obj == obj {
				return w
			}
		}
	}
	return nil
}
