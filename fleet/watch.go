package fleet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

const (
	watchCoalesce  = 100 * time.Millisecond // changes within it are one status
	watchSweep     = time.Second            // how often Watch looks for replicas that have gone
	watchPoll      = 10 * time.Second       // how often Watch asks whether its watchers are blind
	watchRetry     = time.Second            // the first pause after a failure
	watchRetryMost = 5 * time.Second
)

// errAgain ends a round of Watch whose watchers must be made anew.
var errAgain = errors.New("the watchers are blind")

// Watch yields the status at once, and again after changes of the plan or of
// reports; those that come within a tenth of a second are one. A replica that is
// silent for longer than SetupOptions.ReportTTL is gone from it. The caller may
// keep each status and must not change its plan.
//
// Without the server, or without a plan, it yields the error, tries again after a
// pause of up to 5 s, and goes on by itself once it succeeds. The loop ends when
// ctx does, without an error, or with nats.ErrConnectionClosed when the connection
// is closed for good.
func (c *Controller) Watch(ctx context.Context) iter.Seq2[*Status, error] {
	return func(yield func(*Status, error) bool) {
		connection := c.store.conn.StatusChanged(nats.CONNECTED, nats.RECONNECTING, nats.CLOSED)
		defer c.store.conn.RemoveStatusListener(connection)
		pause := watchRetry
		for {
			w := &statusWatch{store: &c.store, connection: connection, yield: yield}
			err := w.run(ctx)
			switch {
			case w.stopped || ctx.Err() != nil:
				return
			case c.store.conn.IsClosed():
				yield(nil, c.store.named(nats.ErrConnectionClosed))
				return
			case !errors.Is(err, errAgain) && !yield(nil, c.store.named(err)):
				return
			}
			if w.yielded {
				pause = watchRetry
			}
			select {
			case <-ctx.Done():
				return
			case <-connection: // it may be back
			case <-time.After(pause):
			}
			pause = min(2*pause, watchRetryMost)
		}
	}
}

// statusWatch is a round of Watch: it lasts until the connection or the watchers
// fail.
type statusWatch struct {
	store            *store
	connection       <-chan nats.Status
	yield            func(*Status, error) bool
	yielded, stopped bool // stopped: the caller's loop has ended

	plan    *Plan
	ttl     time.Duration // of reports; 0: they stay
	reports map[string]watchedReport
}

// watchedReport is a report, and when it came. Ages are measured by this machine's
// clock alone, from then on: those of replica and server may be wrong.
type watchedReport struct {
	Report
	revision uint64 // of its value
	at       time.Time
}

func (w *statusWatch) run(ctx context.Context) error {
	reports, age, err := w.open(ctx)
	if err != nil {
		return err
	}
	planWatcher, closePlans, err := w.store.watchKeys(ctx, w.store.plans, token(w.store.name))
	if err != nil {
		return err
	}
	defer closePlans()
	reportWatcher, closeReports, err := w.store.watchReports(ctx, reports)
	if err != nil {
		return err
	}
	defer closeReports()
	silence := time.NewTimer(reportSilence) // until complete
	defer silence.Stop()
	sweep, poll := time.NewTicker(watchSweep), time.NewTicker(watchPoll)
	defer sweep.Stop()
	defer poll.Stop()
	var due <-chan time.Time // nil: nothing has changed
	complete := false        // the reports that there were have come
	for {
		changed := false
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-w.connection:
			if !w.store.conn.IsConnected() {
				return errors.New("the connection to the server is lost")
			}
			return errAgain // watchers that it had before are blind for a while
		case entry, open := <-planWatcher.Updates():
			if !open {
				return errAgain
			}
			if entry != nil && entry.Operation() == jetstream.KeyValuePut {
				if changed, err = w.acceptPlan(entry.Value()); err != nil {
					return err
				}
			}
		case entry, open := <-reportWatcher.Updates():
			switch {
			case !open:
				return errAgain
			case entry == nil:
				complete, changed = true, true
				silence.Stop()
			case complete:
				changed = w.acceptReport(entry, 0)
			default:
				w.acceptReport(entry, age(entry))
				silence.Reset(reportSilence)
			}
		case <-silence.C:
			return errAgain
		case <-sweep.C:
			changed = w.forgetSilent()
		case <-poll.C:
			plan, _, err := w.store.plan(ctx)
			if err != nil {
				return err
			}
			if plan.Epoch != w.plan.Epoch || plan.Seq > w.plan.Seq {
				return errAgain
			}
		case <-due:
			due = nil
			w.yielded, w.stopped = true, !w.yield(w.status(), nil)
			if w.stopped {
				return nil
			}
		}
		if changed && complete && due == nil {
			wait := watchCoalesce
			if !w.yielded {
				wait = 0
			}
			due = time.After(wait)
		}
	}
}

// open reads the plan straight from the server: a watcher may replay an old one.
// It returns the bucket of reports, and how old its entries are by the clock of
// the server.
func (w *statusWatch) open(ctx context.Context) (jetstream.KeyValue, func(jetstream.KeyValueEntry) time.Duration, error) {
	plan, _, err := w.store.plan(ctx)
	if err != nil {
		return nil, nil, err
	}
	ctx, cancel := within(ctx)
	defer cancel()
	reports, err := w.store.openReports(ctx)
	if err != nil {
		return nil, nil, err
	}
	status, err := reports.Status(ctx)
	if err != nil {
		return nil, nil, err
	}
	w.plan, w.ttl, w.reports = plan, status.TTL(), map[string]watchedReport{}
	bucket, ok := status.(*jetstream.KeyValueBucketStatus)
	return reports, func(entry jetstream.KeyValueEntry) time.Duration {
		if !ok {
			return 0
		}
		return max(bucket.StreamInfo().TimeStamp.Sub(entry.Created()), 0)
	}, nil
}

// acceptPlan reports whether a plan that the watcher saw is news. One of another
// epoch is not taken from a watcher.
func (w *statusWatch) acceptPlan(value []byte) (bool, error) {
	plan, err := decodePlan(value)
	if err != nil {
		return false, err
	}
	if plan.Epoch != w.plan.Epoch {
		return false, errAgain
	}
	if !plan.after(w.plan) {
		return false, nil
	}
	w.plan = plan
	return true, nil
}

// acceptReport reports whether an entry of an age changes the reports. One that
// cannot be read is left out: it must not hide the others.
func (w *statusWatch) acceptReport(entry jetstream.KeyValueEntry, age time.Duration) bool {
	old, known := w.reports[entry.Key()]
	if known && entry.Revision() <= old.revision {
		return false
	}
	r := watchedReport{revision: entry.Revision(), at: time.Now().Add(-age)}
	if entry.Operation() != jetstream.KeyValuePut || json.Unmarshal(entry.Value(), &r.Report) != nil || reportKey(w.store.name, r.ID) != entry.Key() {
		delete(w.reports, entry.Key())
		return known
	}
	w.reports[entry.Key()] = r
	return true
}

// forgetSilent reports whether a report was older than reports may be. The server
// forgets it without a word.
func (w *statusWatch) forgetSilent() bool {
	before := len(w.reports)
	if w.ttl > 0 {
		for key, r := range w.reports {
			if time.Since(r.at) > w.ttl {
				delete(w.reports, key)
			}
		}
	}
	return len(w.reports) < before
}

func (w *statusWatch) status() *Status {
	s := &Status{Name: w.store.name, Plan: w.plan}
	for _, r := range w.reports {
		s.Replicas = append(s.Replicas, r.Report)
	}
	slices.SortFunc(s.Replicas, func(a, b Report) int { return strings.Compare(a.ID, b.ID) })
	return s
}

// watchKeys returns a watcher that ends with stop, which leaves no goroutine.
func (s *store) watchKeys(parent context.Context, bucket jetstream.KeyValue, keys string, options ...jetstream.WatchOpt) (jetstream.KeyWatcher, func(), error) {
	ctx, cancel := context.WithCancel(parent)
	late := time.AfterFunc(requestTimeout, cancel) // only the making of the watcher may not take long
	watcher, err := bucket.Watch(ctx, keys, options...)
	if inTime := late.Stop(); !inTime && err == nil {
		s.closeWatcher(watcher)
		err = context.Canceled
	}
	if err != nil {
		if ctx.Err() != nil && parent.Err() == nil {
			err = fmt.Errorf("%w: %w", errNoAnswer, err)
		}
		cancel()
		return nil, nil, err
	}
	return watcher, func() {
		defer cancel()
		s.closeWatcher(watcher)
	}, nil
}

// closeWatcher stops a watcher and waits for its goroutine, which may wait to send.
// Without a connection it waits for nothing: nats.go tries for seconds to delete
// the consumer.
func (s *store) closeWatcher(watcher jetstream.KeyWatcher) {
	if !s.conn.IsConnected() {
		go stopWatcher(watcher)
		return
	}
	stopWatcher(watcher)
}

// stopWatcher takes what the goroutine of a watcher still sends: in the end it
// closes the channel, if the connection is not being drained.
func stopWatcher(watcher jetstream.KeyWatcher) {
	watcher.Stop() //nolint:errcheck // the connection may have gone
	for end := time.After(requestTimeout); ; {
		select {
		case _, open := <-watcher.Updates():
			if !open {
				return
			}
		case <-end:
			return
		}
	}
}
