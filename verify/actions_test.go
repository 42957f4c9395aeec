package verify_test

import (
	"errors"
	"fmt"
)

// action is an operation, right or wrong. run does nothing and returns false if
// the operation is not possible now.
type action struct {
	name string
	run  func(m *machine) bool
}

// actions are all operations. The fuzz corpus depends on their order: add new ones
// at the end.
var actions = []action{
	{"Get", func(m *machine) bool { m.take(0); return true }},
	{"TryGet", func(m *machine) bool { m.take(1); return true }},
	{"GetNew", func(m *machine) bool { m.take(2); return true }},
	{"Literal", (*machine).newLiteral},
	{"Release", (*machine).releaseAny},
	{"ReleaseHeld", (*machine).releaseHeld},
	{"Update", (*machine).updateAny},
	{"UpdatePrivate", (*machine).updatePrivate},
	{"UpdateNil", (*machine).updateNil},
	{"Acquire", (*machine).acquireAny},
	{"WithAcquire", (*machine).withAcquire},
	{"NewReader", (*machine).newReader},
	{"Load", (*machine).load},
	{"Park", func(m *machine) bool { return m.parkOrClose(false) }},
	{"Close", func(m *machine) bool { return m.parkOrClose(true) }},
	{"Trim", (*machine).trimPool},
	{"CloseGate", (*machine).closeGate},
	{"OpenGate", (*machine).openGate},
	{"Plan", (*machine).planFactory},
	{"Strangers", (*machine).strangers},
	{"OverRelease", (*machine).overRelease},
	{"Forget", (*machine).forgetAny},
	{"Swap", (*machine).swap},
	{"HandOver", (*machine).handOver},
	{"Unmade", (*machine).unmade},
	{"NewContainer", (*machine).newContainer},
	{"Boxes", (*machine).swapBox},
	{"Publish", (*machine).publishAny},
	{"PublishWell", (*machine).publishWell},
	{"PublishEnded", (*machine).publishEnded},
	{"VersionOf", (*machine).versionOf},
	{"Changed", (*machine).changed},
	{"Wait", (*machine).wait},
	{"WaitLater", (*machine).waitLater},
	{"Versions", (*machine).eachVersion},
	{"Retain", (*machine).retain},
	{"RetainAny", (*machine).retainAny},
	{"DrainLater", (*machine).drainLater},
	{"CloseContainer", (*machine).closeContainer},
	{"CloseContainerLater", (*machine).closeContainerLater},
	{"ClosePool", (*machine).closePool},
	{"DrainOvertaken", (*machine).drainOvertaken},
}

// take gets an object in one of three ways and fills it, or returns nil.
func (m *machine) take(way int) *twin {
	var obj *record
	var err error
	what := [...]string{"Get", "TryGet", "GetNew"}[way]
	c := m.containers[m.pick(2)]
	p := m.planned()
	out := m.write(func() {
		switch way {
		case 0:
			obj = m.pool.Get()
		case 1:
			obj, err = m.pool.TryGet()
		case 2:
			obj = c.GetNew()
		}
	})
	known := len(m.twins)
	w, want := m.model.get(obj, p)
	if refused := want.err(); way == 1 && refused != nil {
		if !errors.Is(err, refused) {
			m.t.Fatalf("TryGet returned the error %v, want %v", err, refused)
		}
		want = verdict{}
	} else if err != nil {
		m.t.Fatalf("%s returned the error %v, want %+v", what, err, want)
	}
	m.expect(what, out, want)
	if w == nil {
		return nil
	}
	if len(m.twins) > known && (obj == nil || obj.id != m.ids-1) {
		m.t.Fatalf("%s returned no new object where nothing was free", what)
	}
	m.returned(what, obj, w)
	m.fill(w)
	return w
}

// fill is the owner's work between Get and Update.
func (m *machine) fill(w *twin) {
	m.versions++
	w.version = m.versions
	w.obj.fill(w.version)
	w.fate = fate(max(0, m.pick(8)-4)) // kept more often than not
	w.obj.fate = w.fate
}

// newLiteral makes an object without the pool.
func (m *machine) newLiteral() bool {
	obj := m.newRecord(0)
	w := &twin{obj: obj, id: obj.id}
	m.twins = append(m.twins, w)
	m.fill(w)
	return true
}

// releaseTwin releases w through the pool or a container.
func (m *machine) releaseTwin(w *twin) {
	through := m.pick(3)
	what := fmt.Sprintf("Release of %v, version %#x, through %d", w, w.version, through)
	call := func() {
		if through == 2 {
			m.pool.Release(w.obj)
		} else {
			m.containers[through].Release(w.obj)
		}
	}
	run := m.write
	switch w.place {
	case current, retired, lost:
		run = m.read
	}
	out := run(call)
	m.expect(what, out, m.model.release(w))
}

// releaseAny releases any object, rightly or wrongly. It does not release another
// holder's reference; overRelease does.
func (m *machine) releaseAny() bool {
	w := m.choose(func(w *twin) bool {
		return w.place != limbo && ((w.place != current && w.place != retired) || m.holds(w) > 0)
	})
	if w == nil {
		return false
	}
	m.dropHeld(w)
	m.releaseTwin(w)
	return true
}

func (m *machine) releaseHeld() bool {
	if len(m.held) == 0 {
		return false
	}
	w := m.held[m.pick(len(m.held))]
	m.dropHeld(w)
	m.releaseTwin(w)
	return true
}

func (m *machine) updateTwin(c int, w *twin) {
	var obj *record
	if w != nil {
		obj = w.obj
	}
	out := m.write(func() { m.containers[c].Update(obj) })
	m.expect(fmt.Sprintf("Update of container %d with %v", c, w), out, m.model.update(c, w))
}

// updateAny updates with any object, rightly or wrongly.
func (m *machine) updateAny() bool {
	w := m.choose(func(w *twin) bool { return w.place != limbo })
	if w == nil {
		return false
	}
	if w.place == discarded {
		m.fill(w) // the test owns discarded objects
	}
	m.updateTwin(m.pick(2), w)
	return true
}

func (m *machine) updatePrivate() bool {
	w := m.choose(func(w *twin) bool { return w.place == private })
	if w == nil {
		return false
	}
	m.updateTwin(m.pick(2), w)
	return true
}

func (m *machine) updateNil() bool {
	m.updateTwin(m.pick(2), nil)
	return true
}

// swap does a whole write: get, fill, update.
func (m *machine) swap() bool {
	if w := m.take(2); w != nil {
		m.updateTwin(m.pick(2), w)
	}
	return true
}

// handOver makes a reader the last holder of a replaced object, so that the
// sweeper resets it.
func (m *machine) handOver() bool {
	c := m.pick(2)
	w := m.now[c]
	if w == nil {
		return false
	}
	m.containers[c].Acquire()
	m.model.acquire(c)
	m.updateTwin(c, nil)
	m.releaseTwin(w)
	return true
}

// acquireAny acquires and keeps the reference.
func (m *machine) acquireAny() bool {
	m.acquireFrom(m.pick(2))
	return true
}

func (m *machine) acquireFrom(c int) {
	var obj *record
	out := m.read(func() { obj = m.containers[c].Acquire() })
	w := m.model.acquire(c)
	m.expect("Acquire", out, verdict{})
	m.returned("Acquire", obj, w)
	if w != nil {
		m.held = append(m.held, w)
	}
}
