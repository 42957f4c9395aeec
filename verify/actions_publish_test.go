package verify_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"runtime"

	"github.com/poolswap/poolswap"
)

// publishAny publishes with a fill that ends in any way.
func (m *machine) publishAny() bool {
	p := publication{c: m.pick(2), way: fillWay(m.pick(int(fillWays)))}
	switch p.way {
	case fillUpdatesNext:
		p.into = m.pick(2)
		p.fails = m.pick(2) == 1
		if m.closed[p.into] {
			return false
		}
	case fillReleasesNext:
		p.fails = m.pick(2) == 1
	case fillUpdates:
		p.other = m.choose(func(w *twin) bool { return w.place == private })
		if m.pick(2) == 1 {
			p.other = nil
		}
	case fillCloses:
		if m.pick(4) != 0 { // a closed container is of little use
			return false
		}
	}
	if p.way == fillUpdates || p.way == fillCloses {
		// Publish gives back next and the last reference to the old object. With
		// one more the writer and the sweeper do not run hooks at the same time.
		m.acquireFrom(p.c)
	}
	m.publishAs(p)
	switch p.way {
	case fillFails, fillPanics, fillExits: // the turn has passed on
		m.publishAs(publication{c: p.c})
	}
	return true
}

// publishWell publishes.
func (m *machine) publishWell() bool {
	m.publishAs(publication{c: m.pick(2)})
	return true
}

// publishAs calls Publish and compares what comes of it with the model.
func (m *machine) publishAs(p publication) {
	c := m.containers[p.c]
	m.versions++
	p.content, p.plan = m.versions, m.planned()
	p.fate = fate(max(0, m.pick(8)-4))

	var current *record
	var numbers [2]uint64
	var inside error
	fill := func(next, now *record) error {
		p.next, current = next, now
		numbers = [2]uint64{c.VersionOf(next), c.VersionOf(now)}
		next.fill(p.content)
		next.fate = p.fate
		switch p.way {
		case fillFails:
			return errFill
		case fillPanics:
			panic(errFill)
		case fillExits:
			runtime.Goexit()
		case fillUpdatesNext:
			m.containers[p.into].Update(next)
		case fillReleasesNext:
			c.Release(next)
		case fillUpdates:
			c.Update(p.other.object())
		case fillCloses:
			inside = c.Close(newEndsWhenAwaited())
		case fillPublishes:
			_, inside = c.Publish(newEndsWhenAwaited(), func(*record, *record) error { return nil })
		}
		if p.fails {
			return errFill
		}
		return nil
	}
	var version uint64
	var err error
	call := func() outcome {
		return m.write(func() { version, err = c.Publish(newEndsWhenAwaited(), fill) })
	}
	out := call()
	known := len(m.twins)
	want := m.model.publishing(p)
	for try := 0; want.held != nil && err == context.Canceled && try < 3; try++ {
		// The wake-up for what came back last came only now, together with the end
		// of ctx.
		m.stats.FailedPublishes++
		out = call()
	}
	what := fmt.Sprintf("Publish in container %d with a fill that %v", p.c, p.way)
	m.expect(what, out, want.verdict)
	if called := p.next != nil; called != want.called {
		m.t.Fatalf("%s: fill was called: %t", what, called)
	}
	if want.called {
		if len(m.twins) > known && p.next.id != m.ids-1 {
			m.t.Fatalf("%s: next is no new object where nothing was free", what)
		}
		if p.next != want.next.obj || current != want.current.object() {
			m.t.Fatalf("%s: fill got %v and %v, want %v and %v", what, m.twinOf(p.next), m.twinOf(current), want.next, want.current)
		}
		if numbers != want.numbers {
			m.t.Fatalf("%s: next and current have the versions %v in fill, want %v", what, numbers, want.numbers)
		}
	}
	if out != (outcome{}) {
		return // there are no results
	}
	if version != want.version {
		m.t.Fatalf("%s: returned version %d, want %d", what, version, want.version)
	}
	m.sameError(what, err, want)
	switch {
	case p.way == fillPublishes && want.called && !errors.Is(inside, context.Canceled):
		m.t.Fatalf("%s: Publish inside fill returned %v, want that its ctx ended", what, inside)
	case want.insideClose != nil:
		m.heldAs(what+": Close inside fill", inside, *want.insideClose)
	}
}

// sameError fails unless Publish returned the error that the model says.
func (m *machine) sameError(what string, err error, want published) {
	m.t.Helper()
	switch {
	case want.held != nil:
		m.heldAs(what, err, *want.held)
		if ended := errors.Is(err, context.Canceled); !errors.Is(err, poolswap.ErrLimit) || ended == want.allCurrent {
			m.t.Fatalf("%s: returned %v; that all that may exist are current: %t", what, err, want.allCurrent)
		}
	case want.err == nil && err != nil, want.err == errFill && err != errFill, !errors.Is(err, want.err):
		m.t.Fatalf("%s: returned the error %v, want %v", what, err, want.err)
	}
}

// heldAs fails unless err is a HeldError with these counts.
func (m *machine) heldAs(what string, err error, want poolswap.HeldError) {
	m.t.Helper()
	if difference := heldDifference(err, want); difference != "" {
		m.t.Fatalf("%s: %s", what, difference)
	}
}

// heldDifference returns where err differs from a HeldError with these counts.
func heldDifference(err error, want poolswap.HeldError) string {
	held, is := err.(*poolswap.HeldError)
	if !is {
		return fmt.Sprintf("returned %v, want a HeldError %+v", err, want)
	}
	got := *held
	if got.Err == nil || got.Longest < 0 || got.Objects == 0 && got.Longest != 0 {
		return fmt.Sprintf("returned %+v", got)
	}
	got.Err, got.Longest = nil, 0
	if !reflect.DeepEqual(got, want) {
		return fmt.Sprintf("returned\n%+v, want\n%+v", got, want)
	}
	return ""
}

// publishEnded publishes with a ctx that has ended. If the container is closed
// too, either error will do.
func (m *machine) publishEnded() bool {
	c := m.pick(2)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	var version uint64
	var err error
	out := m.write(func() {
		version, err = m.containers[c].Publish(ctx, func(*record, *record) error { panic("fill was called") })
	})
	m.stats.FailedPublishes++
	m.expect("Publish with a ctx that has ended", out, verdict{})
	if closed := m.closed[c] && errors.Is(err, poolswap.ErrClosed); version != 0 || !closed && !errors.Is(err, context.Canceled) {
		m.t.Fatalf("Publish with a ctx that has ended returned version %d and the error %v", version, err)
	}
	return true
}

// object is the record of w, or nil for nil.
func (w *twin) object() *record {
	if w == nil {
		return nil
	}
	return w.obj
}

// versionNumber is the version of w, or 0 for nil.
func (w *twin) versionNumber() uint64 {
	if w == nil {
		return 0
	}
	return w.number
}
