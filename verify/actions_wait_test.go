package verify_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/poolswap/poolswap"
)

// channel is what Changed returned, open.
type channel struct {
	ch <-chan struct{}
	c  int
	at uint64 // how often the container had woken those who wait
}

// waiter is a call that waits on a goroutine of its own.
type waiter struct {
	what   string
	c      int // the container it is a call of, or -1
	cancel context.CancelFunc
	ended  chan struct{}
	err    error // guarded by ended

	must func() bool       // by the model, whether it must have ended
	ok   func(error) error // the mistake in how it ended
}

// tells is a Context that tells when a goroutine waits for it.
type tells struct {
	context.Context
	waiting func()
}

func (w tells) Done() <-chan struct{} {
	w.waiting()
	return w.Context.Done()
}

// later starts a call that must wait, and returns once it does.
func (m *machine) later(w *waiter, call func(context.Context) error) {
	ctx, cancel := context.WithCancel(context.Background())
	waits := make(chan struct{})
	w.cancel, w.ended = cancel, make(chan struct{})
	go func() {
		defer close(w.ended)
		w.err = call(tells{ctx, sync.OnceFunc(func() { close(waits) })})
	}()
	m.waiters = append(m.waiters, w)
	if !eventually(func() bool { return isClosed(waits) || isClosed(w.ended) }) || isClosed(w.ended) {
		m.t.Fatalf("%s does not wait", w.what)
	}
	m.t.Logf("%s waits", w.what)
}

// checkWaiters fails unless those have ended that must have, and no others.
func (m *machine) checkWaiters() {
	m.t.Helper()
	m.waiters = slices.DeleteFunc(m.waiters, func(w *waiter) bool {
		if !w.must() {
			if isClosed(w.ended) {
				m.t.Fatalf("%s has ended too early, with %v", w.what, w.err)
			}
			return false
		}
		if !eventually(func() bool { return isClosed(w.ended) }) {
			m.t.Fatalf("%s waits still", w.what)
		}
		w.cancel()
		if wrong := w.ok(w.err); wrong != nil {
			m.t.Fatalf("%s: %v", w.what, wrong)
		}
		return true
	})
	m.channels = slices.DeleteFunc(m.channels, func(c *channel) bool {
		fired := m.published[c.c] != c.at
		if isClosed(c.ch) != fired {
			m.t.Fatalf("the channel of Changed of container %d is closed: %t, want %t", c.c, !fired, fired)
		}
		return fired
	})
}

// awaited reports whether a call of container c waits.
func (m *machine) awaited(c int) bool {
	return slices.ContainsFunc(m.waiters, func(w *waiter) bool { return w.c == c })
}

// forgetChannels is for a container that is not used any more.
func (m *machine) forgetChannels(c int) {
	m.channels = slices.DeleteFunc(m.channels, func(ch *channel) bool { return ch.c == c })
}

func isClosed(ch <-chan struct{}) bool {
	select {
	case <-ch:
		return true
	default:
		return false
	}
}

// isNil is for a call that must have succeeded.
func isNil(err error) error { return err }

// pickAfter picks a version around that of container c.
func (m *machine) pickAfter(c int) uint64 {
	now := m.now[c].versionNumber()
	return []uint64{0, now, max(now, 1) - 1, now + 1, ^uint64(0)}[m.pick(5)]
}

// changed asks for a channel. All open ones of a container are the same.
func (m *machine) changed() bool {
	c := m.pick(2)
	m.askChanged(c, m.pickAfter(c))
	return true
}

func (m *machine) askChanged(c int, after uint64) {
	var ch <-chan struct{}
	m.expect("Changed", m.write(func() { ch = m.containers[c].Changed(after) }), verdict{})
	want := m.now[c].versionNumber() > after || m.closed[c]
	if isClosed(ch) != want {
		m.t.Fatalf("Changed(%d) of container %d is closed: %t, want %t", after, c, !want, want)
	}
	if want {
		return
	}
	for _, other := range m.channels {
		if other.c == c && other.ch != ch {
			m.t.Fatalf("Changed of container %d has two open channels", c)
		}
	}
	m.channels = append(m.channels, &channel{ch, c, m.published[c]})
}

// wait waits with a ctx that has ended, or that ends when somebody waits for it.
func (m *machine) wait() bool {
	c := m.pick(2)
	after := m.pickAfter(c)
	now := m.now[c].versionNumber()
	ctx := newEndsWhenAwaited()
	want, wantErr := now, error(nil)
	switch {
	case m.pick(3) == 0:
		<-ctx.Done()
		want, wantErr = 0, context.Canceled
	case m.closed[c]:
		want, wantErr = 0, poolswap.ErrClosed
	case now <= after:
		want, wantErr = 0, context.Canceled
	}
	var version uint64
	var err error
	m.expect("Wait", m.write(func() { version, err = m.containers[c].Wait(ctx, after) }), verdict{})
	if version != want || !errors.Is(err, wantErr) || wantErr == nil && err != nil {
		m.t.Fatalf("Wait(%d) of container %d, version %d: returned %d and %v, want %d and %v", after, c, now, version, err, want, wantErr)
	}
	return true
}

// waitLater waits for a version that is still to come.
func (m *machine) waitLater() bool {
	c := m.pick(2)
	after := m.now[c].versionNumber() + uint64(m.pick(3))
	if m.closed[c] || len(m.waiters) == 4 {
		return false
	}
	var version uint64
	container := m.containers[c]
	m.later(&waiter{
		what: fmt.Sprintf("Wait(%d) of container %d", after, c),
		c:    c,
		must: func() bool { return m.now[c].versionNumber() > after || m.closed[c] },
		ok: func(err error) error {
			switch {
			case m.closed[c] && errors.Is(err, poolswap.ErrClosed), err == nil && version > after && version <= m.numbers:
				return nil
			}
			return fmt.Errorf("returned %d and %w", version, err)
		},
	}, func(ctx context.Context) (err error) {
		version, err = container.Wait(ctx, after)
		return err
	})
	return true
}
