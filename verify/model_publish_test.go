package verify_test

import (
	"context"
	"errors"

	"github.com/poolswap/poolswap"
)

var errFill = errors.New("fill fails")

// fillWay is what fill does after it filled next.
type fillWay int

const (
	fillSucceeds fillWay = iota
	fillFails            // returns an error
	fillPanics
	fillExits        // calls runtime.Goexit
	fillUpdatesNext  // misuse: publishes next itself
	fillReleasesNext // misuse
	fillUpdates      // replaces the current object, or empties the container
	fillCloses       // closes the container
	fillPublishes    // publishes in the same container, which waits for itself
	fillWays
)

func (w fillWay) String() string {
	return [...]string{"succeeds", "fails", "panics", "exits", "updates with next", "releases next", "updates", "closes", "publishes"}[w]
}

// publication is a call of Publish.
type publication struct {
	c       int
	way     fillWay
	into    int    // the container that fill updates with next
	other   *twin  // what fill updates the container with, or nil
	fails   bool   // fill returns errFill after a misuse
	content uint64 // of next
	fate    fate   // of next
	plan    plan   // of the factory

	next *record // what fill got; nil if it was not called
}

// published is how a call of Publish must end.
type published struct {
	verdict

	called      bool // fill was called
	next        *twin
	current     *twin
	numbers     [2]uint64 // VersionOf next and current, in fill
	done        bool      // next was published by Publish
	version     uint64
	err         error
	held        *poolswap.HeldError // what err says, under a limit
	allCurrent  bool                // so that no wait can help
	insideClose *poolswap.HeldError // what Close inside fill says
}

// publishing is Publish with a ctx that ends when somebody waits for it.
func (m *model) publishing(p publication) (e published) {
	m.tryPublish(p, &e)
	if !e.done {
		m.stats.FailedPublishes++
	}
	return e
}

func (m *model) tryPublish(p publication, e *published) {
	if m.closed[p.c] {
		e.err = poolswap.ErrClosed
		return
	}
	var v verdict
	switch e.next, v = m.get(p.next, p.plan); {
	case v.closed:
		e.err = poolswap.ErrClosed
		return
	case v.limit:
		held := m.heldError("Publish", func(w *twin) bool { return w.place != lost })
		e.err, e.held, e.allCurrent = poolswap.ErrLimit, &held, held.Current >= m.live()
		return
	case !v.returns():
		e.verdict = v
		return
	}
	e.called, e.current = true, m.acquire(p.c)
	e.numbers = [2]uint64{e.next.number, e.current.versionNumber()}
	e.next.version, e.next.fate = p.content, p.fate
	m.fillEnds(p, e)
}

// fillEnds is what follows the end of fill.
func (m *model) fillEnds(p publication, e *published) {
	switch p.way {
	case fillPublishes:
		m.stats.FailedPublishes++
		fallthrough
	case fillSucceeds:
		m.publish(p.c, e.next)
		m.now[p.c] = e.next
		e.done, e.version = true, e.next.number
		m.letGo(e.current)
		e.verdict = m.retire(e.current)
		return
	case fillUpdatesNext, fillReleasesNext:
		m.fillMisuses(p, e)
		m.letGo(e.current)
		return
	case fillFails:
		e.err = errFill
	case fillPanics:
		e.value = errFill
	case fillExits:
		e.exits = true
	case fillUpdates:
		e.err = poolswap.ErrConflict
		m.update(p.c, p.other)
	case fillCloses:
		e.err = poolswap.ErrClosed
		m.shut(p.c)
		inside := m.heldError("Close", m.outstanding(m.homes[p.c]))
		inside.Filling = true
		e.insideClose = &inside
	}
	m.letGo(e.current)
	if v := m.release(e.next); !v.returns() {
		e.verdict = v
	}
}

// fillMisuses is a fill that gives next away. Publish must not touch next any
// more.
func (m *model) fillMisuses(p publication, e *published) {
	var v verdict
	if p.way == fillUpdatesNext {
		v = m.update(p.into, e.next)
	} else {
		v = m.release(e.next)
	}
	switch {
	case !v.returns():
		e.verdict = v
	case p.fails:
		e.err = errFill
	default:
		e.verdict = e.next.misuse("Publish", "that fill published or gave back (fill only fills next)")
	}
}

// letGo gives back the reference that Publish has.
func (m *model) letGo(current *twin) {
	if current != nil {
		m.release(current)
	}
}

// endsWhenAwaited is a Context that ends as soon as a goroutine waits for it.
type endsWhenAwaited struct {
	context.Context
	cancel context.CancelFunc
}

func newEndsWhenAwaited() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	return endsWhenAwaited{ctx, cancel}
}

func (e endsWhenAwaited) Done() <-chan struct{} {
	e.cancel()
	return e.Context.Done()
}
