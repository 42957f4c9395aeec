package verify_test

import (
	"errors"
	"fmt"
	"runtime"
	"slices"

	"github.com/poolswap/poolswap"
)

var errReader = errors.New("the reader panics")

// withAcquire reads in a function that returns, panics or calls Goexit, and that
// may replace the object.
func (m *machine) withAcquire() bool {
	c, end, replace := m.pick(2), m.pick(3), m.pick(2) == 1
	w := m.model.acquire(c)
	want := verdict{}
	switch end {
	case 1:
		want.value = errReader
	case 2:
		want.exits = true
	}
	var obj *record
	out := m.write(func() {
		m.containers[c].WithAcquire(func(got *record) {
			obj = got
			if replace {
				m.containers[c].Update(nil)
			}
			m.reading.Store(true) // from here on no hook may run on this goroutine
			switch end {
			case 1:
				panic(errReader)
			case 2:
				runtime.Goexit()
			}
		})
	})
	m.reading.Store(false)
	m.expect(fmt.Sprintf("WithAcquire of container %d that ends in way %d", c, end), out, want)
	if replace {
		if v := m.model.update(c, nil); !v.returns() {
			m.t.Fatalf("an object that is held was recycled: %+v", v)
		}
	}
	if w != nil {
		if m.twinOf(obj) != w {
			m.t.Fatalf("WithAcquire passed %v, want %v", m.twinOf(obj), w)
		}
		m.model.release(w)
	} else if obj != nil {
		m.t.Fatalf("WithAcquire passed record %d, want nil", obj.id)
	}
	return true
}

func (m *machine) newReader() bool {
	if len(m.readers) == 4 {
		i := slices.IndexFunc(m.readers, func(r *reader) bool { return r.holds == nil })
		if i < 0 {
			return false
		}
		m.readers = slices.Delete(m.readers, i, i+1)
	}
	c := m.pick(2)
	m.readers = append(m.readers, &reader{Reader: m.containers[c].NewReader(), container: c})
	return true
}

func (m *machine) load() bool {
	if len(m.readers) == 0 {
		return false
	}
	r := m.readers[m.pick(len(m.readers))]
	var obj *record
	out := m.read(func() { obj = r.Load() })
	if r.closed {
		m.expect("Load", out, verdict{text: []string{"poolswap: Load of a closed Reader"}})
		return true
	}
	var want verdict
	if now := m.now[r.container]; now != r.holds {
		if want = m.parkTwin(r); want.returns() {
			r.holds = m.model.acquire(r.container)
		}
	}
	m.expect("Load", out, want)
	m.returned("Load", obj, r.holds)
	return true
}

// parkOrClose parks a Reader or closes it.
func (m *machine) parkOrClose(forGood bool) bool {
	if len(m.readers) == 0 {
		return false
	}
	r := m.readers[m.pick(len(m.readers))]
	what := "Park"
	if forGood {
		what = "Close"
	}
	out := m.read(func() {
		if forGood {
			r.Close()
		} else {
			r.Park()
		}
	})
	want := m.parkTwin(r)
	r.closed = r.closed || forGood && want.returns()
	m.expect(what, out, want)
	return true
}

// parkTwin is Park.
func (m *machine) parkTwin(r *reader) verdict {
	w := r.holds
	if w == nil {
		return verdict{}
	}
	r.holds = nil
	return m.model.release(w)
}

func (m *machine) trimPool() bool {
	m.expect("Trim", m.write(m.pool.Trim), verdict{})
	m.trimmed("Trim")
	return true
}

// trimmed tells the model that what trimmed the pool.
func (m *machine) trimmed(what string) {
	dropped := int(m.pool.Stats().Discarded - m.stats.Discarded)
	if spares := len(m.clean); !m.trim(dropped) {
		m.t.Fatalf("%s dropped %d objects, with %d spares and at most %d in the overflow", what, dropped, spares, m.inOverflow)
	}
}

func (m *machine) closeGate() bool {
	if m.gated || !m.resets {
		return false
	}
	m.gated = true
	m.gate.close()
	return true
}

func (m *machine) openGate() bool {
	if !m.gated {
		return false
	}
	m.gated, m.atGate = false, false
	m.sweep()
	m.gate.open()
	return true
}

// forgetAny makes a container with its object, or an object that the test holds,
// unreachable, and expects the garbage collector to find it. Report must be told
// of references that were never released or were released too often.
func (m *machine) forgetAny() bool {
	w := m.choose(func(w *twin) bool {
		if w == m.next.again {
			return false
		}
		for c, now := range m.now {
			if now == w && (m.poolClosed || m.awaited(c)) { // the container is needed
				return false
			}
		}
		for _, r := range m.readers {
			if r.holds == w || (w.place == current && m.now[r.container] == w) {
				return false
			}
		}
		switch w.place {
		case literal, private, current, retired, discarded, lost:
			return true
		}
		return false
	})
	if w == nil {
		return false
	}
	m.t.Logf("Forget %v", w)
	for m.holds(w) > 0 {
		m.dropHeld(w)
	}
	for c := range m.containers {
		if m.now[c] == w {
			m.containers[c] = poolswap.NewEmptyContainer(m.pool)
			m.replaced(c)
			m.forgetChannels(c)
		}
	}
	m.forget(w)
	m.collecting = true
	return true
}
