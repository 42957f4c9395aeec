package page

import (
	"context"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/poolswap/poolswap/fleet"
)

// feeds watch names for those who look at them: however many, one watch a name.
type feeds struct {
	ctx     context.Context //nolint:containedctx // that of the page
	conn    *nats.Conn
	running sync.WaitGroup
	streams bounded

	mu  sync.Mutex
	all map[string]*feed
}

// feed is what is known of a name.
type feed struct {
	controller *fleet.Controller
	stop       context.CancelFunc
	readers    int // guarded by feeds.mu

	mu      sync.Mutex
	status  *fleet.Status
	err     error         // why there is no newer status
	changed chan struct{} // closed when what stands above changes

	recordMu sync.Mutex
	record   *record
}

// join returns the feed of a name, which leave gives back.
func (f *feeds) join(name string) (*feed, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if one, ok := f.all[name]; ok {
		one.readers++
		return one, nil
	}
	controller, err := fleet.NewController(f.conn, name, "page")
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(f.ctx)
	one := &feed{controller: controller, stop: stop, readers: 1, changed: make(chan struct{})}
	f.all[name] = one
	f.running.Go(func() {
		for status, err := range controller.Watch(ctx) {
			one.set(status, err)
		}
	})
	return one, nil
}

func (f *feeds) leave(name string, one *feed) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if one.readers--; one.readers == 0 {
		one.stop()
		delete(f.all, name)
	}
}

func (f *feed) set(status *fleet.Status, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err = err; err == nil {
		f.status = status
	}
	close(f.changed)
	f.changed = make(chan struct{})
}

// latest returns the latest status, why there is no newer one, and a channel that
// is closed when that changes.
func (f *feed) latest() (*fleet.Status, error, <-chan struct{}) { //nolint:revive,staticcheck // the error is a part of what is known
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.status, f.err, f.changed
}

// record is what was done under a name, and what is stored.
type record struct {
	history []fleet.Change
	stored  []fleet.Stored
	plan    *fleet.Plan // as of which
	read    time.Time
}

// recordAge is how old a record may be that goes with a plan.
const recordAge = 5 * time.Second

// recordOf returns the record that goes with a status.
func (f *feed) recordOf(ctx context.Context, status *fleet.Status) (*record, error) {
	f.recordMu.Lock()
	defer f.recordMu.Unlock()
	if r := f.record; r != nil && r.plan.Epoch == status.Plan.Epoch && r.plan.Seq >= status.Plan.Seq && time.Since(r.read) < recordAge {
		return r, nil
	}
	r, err := readRecord(ctx, f.controller, status.Plan)
	if err == nil {
		f.record = r
	}
	return r, err
}

func readRecord(ctx context.Context, c *fleet.Controller, plan *fleet.Plan) (r *record, err error) {
	r = &record{plan: plan, read: time.Now()}
	if r.history, err = c.History(ctx); err != nil {
		return nil, err
	}
	r.stored, err = c.Stored(ctx)
	return r, err
}
