package fleet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// guardRetry is how long Guard waits before it watches again.
const guardRetry = 5 * time.Second

// Guard puts a canary on hold when a replica of it reports that it could not load
// the revision: Promote is refused then, and the history says why. It returns
// when ctx ends, with ctx's error. Several guards do no harm.
func (c *Controller) Guard(ctx context.Context) error {
	for {
		c.guardOnce(ctx) //nolint:errcheck // it watches again
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(guardRetry):
		}
	}
}

// guardOnce guards until the watcher ends. A watcher begins with the reports that
// there are.
func (c *Controller) guardOnce(ctx context.Context) error {
	short, cancel := within(ctx)
	defer cancel()
	reports, err := c.store.openReports(short)
	if err != nil {
		return err
	}
	watcher, stop, err := c.store.watchReports(ctx, reports, jetstream.IgnoreDeletes())
	if err != nil {
		return err
	}
	defer stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case entry, open := <-watcher.Updates():
			if !open {
				return errors.New("the watcher of reports was closed")
			}
			var r Report
			if entry == nil || json.Unmarshal(entry.Value(), &r) != nil || r.Failed == "" {
				continue
			}
			if err := c.hold(ctx, r); err != nil && !errors.Is(err, errNoHold) {
				return err // the report comes again with the next watcher
			}
		}
	}
}

var errNoHold = errors.New("nothing is to be held")

// hold puts the canary on hold if a report is of its failure.
func (c *Controller) hold(ctx context.Context, r Report) error {
	plan, _, err := c.store.plan(ctx)
	if err != nil {
		return err
	}
	if !plan.failedCanary(r) || plan.Hold != "" {
		return errNoHold
	}
	why := bounded(fmt.Sprintf("%s: %s", r.ID, r.Error))
	_, err = c.change(ctx, "hold", why, func(next *Plan, change *Change) error {
		if !next.failedCanary(r) || next.Hold != "" {
			return errNoHold
		}
		change.To, change.Whom, next.Hold = next.Canary, []string{r.ID}, why
		return nil
	})
	return err
}

// failedCanary reports whether a report is of a replica of the canary that could
// not load it.
func (p *Plan) failedCanary(r Report) bool {
	return p.Canary != "" && r.Failed == p.Canary && p.isOfCanary(r)
}

// isOfCanary reports whether a report is of a replica of the canary that knows of
// it: not of an earlier try of the revision.
func (p *Plan) isOfCanary(r Report) bool {
	return slices.Contains(p.CanaryIDs, r.ID) && r.Epoch == p.Epoch && r.Seq >= p.CanarySeq
}
