package fleet

import (
	"context"
	"errors"
	"slices"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// planWatch is what Wait goes on with from one call to the next. A watcher is
// made once and kept: the server forgets those of a broken connection late, and
// many of them would cost it much.
type planWatch struct {
	watcher jetstream.KeyWatcher
	stop    func() // closes it
	status  chan nats.Status
}

// Wait implements reload.Waiter: it returns when there is a plan that wants
// another revision than have, or when a connection was made. After that it makes a
// new watcher: the old one is blind for some seconds.
func (s *Source) Wait(ctx context.Context, have string) error {
	w := &s.watch
	if w.watcher == nil {
		if again, err := s.awaitConnection(ctx); again || err != nil {
			return err
		}
		if err := s.openWatch(ctx); err != nil {
			return err
		}
	}
	for {
		select {
		case <-ctx.Done():
			s.closeWatch()
			return ctx.Err()
		case status := <-w.status:
			if status == nats.CLOSED {
				s.closeWatch()
				return s.store.notConnected()
			}
			s.closeWatch()
			return nil
		case entry, open := <-w.watcher.Updates():
			if !open {
				s.closeWatch()
				return errors.New("the watcher of plans was closed")
			}
			if entry != nil && entry.Operation() == jetstream.KeyValuePut && s.isNews(entry.Value(), have) {
				return nil
			}
		}
	}
}

// awaitConnection waits until there is a connection, and reports whether it came
// meanwhile.
func (s *Source) awaitConnection(ctx context.Context) (came bool, err error) {
	conn := s.store.conn
	status := conn.StatusChanged(nats.CONNECTED, nats.CLOSED)
	defer conn.RemoveStatusListener(status)
	switch {
	case conn.IsConnected():
		return false, nil
	case conn.IsClosed():
		return false, s.store.notConnected()
	}
	select {
	case <-ctx.Done():
		return false, ctx.Err()
	case now := <-status:
		if now == nats.CLOSED {
			return false, s.store.notConnected()
		}
		return true, nil
	}
}

// isNews reports whether a plan that a watcher saw is a reason to fetch. It may be
// an old one: a watcher that was reset replays.
func (s *Source) isNews(value []byte, have string) bool {
	plan, err := decodePlan(value)
	if err != nil {
		return true // Fetch says what is wrong
	}
	latest := s.latest()
	if latest != nil && plan.Epoch == latest.Epoch && plan.Seq <= latest.Seq {
		return false
	}
	if latest == nil || plan.Epoch != latest.Epoch || s.failing() {
		return true
	}
	if slices.Contains(plan.CanaryIDs, s.options.ID) && s.reported() < plan.CanarySeq {
		return true // the report must say that it knows of the canary
	}
	return !plan.Paused && plan.Wanted(s.options.ID).ID != have
}

// failing reports whether the last attempt failed: another plan may want what the
// replica runs, and the report must say so.
func (s *Source) failing() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.report.Error != ""
}

// reported returns the Seq of the plan in the last report.
func (s *Source) reported() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.report.Seq
}

func (s *Source) openWatch(ctx context.Context) error {
	short, cancel := within(ctx)
	defer cancel()
	if err := s.store.open(short); err != nil {
		return err
	}
	watcher, stop, err := s.store.watchKeys(context.WithoutCancel(ctx), s.store.plans, token(s.store.name))
	if err != nil {
		return err
	}
	s.watch = planWatch{watcher, stop, s.store.conn.StatusChanged(nats.CONNECTED, nats.CLOSED)}
	return nil
}

func (s *Source) closeWatch() {
	s.watch.stop()
	s.store.conn.RemoveStatusListener(s.watch.status)
	s.watch = planWatch{}
}
