package fleet

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"time"
)

// watchEvery is the time between two looks of Watch: a status has many pages.
const watchEvery = time.Second

// Watch returns the status now, and again every second or so, until ctx ends. A failure
// is an error beside a nil Status, and Watch goes on.
func (c *Controller) Watch(ctx context.Context) iter.Seq2[*Status, error] {
	return func(yield func(*Status, error) bool) {
		for {
			status, err := c.Status(ctx)
			if ctx.Err() != nil || !yield(status, err) || !sleep(ctx, watchEvery) {
				return
			}
		}
	}
}

// Await waits until every replica that reports and is not silent runs the revision that
// plan wants, and says that it knows plan. It follows a rollout to its end. It fails if a
// replica refuses the revision, if the canary is on hold, if the server ends the rollout, if
// another plan comes between (ErrConflict), and when ctx ends; the error says how far it
// came.
func (c *Controller) Await(ctx context.Context, plan *Plan) (*Status, error) {
	waiting := errors.New("the server has not answered")
	for status, err := range c.Watch(ctx) {
		if err != nil {
			waiting = err
			continue
		}
		waiting, err = progress(plan, status)
		if err != nil {
			return status, fmt.Errorf("fleet: await the replicas of %s: %w", c.name, err)
		}
		if waiting == nil {
			return status, nil
		}
	}
	return nil, fmt.Errorf("fleet: await the replicas of %s: %w: %w", c.name, ctx.Err(), waiting)
}

// progress returns nil and nil if all replicas do what plan, or a later step of its
// rollout, wants. Otherwise waiting is the reason to wait, or err that it is in vain.
func progress(plan *Plan, status *Status) (waiting, err error) {
	now := status.Plan
	switch {
	case now == nil:
		return nil, ErrNoPlan
	case plan.After(now.Epoch, now.Seq):
		return errors.New("the server does not know the plan yet"), nil
	case now.Canary != nil && now.Canary.Hold != "":
		return nil, fmt.Errorf("the canary is on hold: %s", now.Canary.Hold)
	case plan.Rollout != nil && now.Change.Kind == KindRollback && now.Change.By == byServer && plan.Canary != nil && now.Change.From == plan.Canary.Revision:
		return nil, fmt.Errorf("the server has ended the rollout: %s", now.Change.Why)
	case now.Version() != plan.Version() && !now.follows(plan):
		return nil, fmt.Errorf("%w: %s by %s made plan %s: %s", ErrConflict, now.Change.Kind, now.Change.By, now.Version(), now.Change.Why)
	}
	var late []string
	for i := range status.Replicas {
		r := &status.Replicas[i]
		want := now.Wanted(r.ID, r.Labels).ID
		if r.Failed == want && r.Revision != want {
			return nil, fmt.Errorf("%s has refused revision %q: %s", r.ID, want, r.Error)
		}
		stays := now.Paused && r.Revision != ""
		if r.State(now, status.Now) != Silent && (plan.After(r.Epoch, r.Seq) || r.Revision != want && !stays) {
			late = append(late, r.ID)
		}
	}
	switch {
	case len(late) > 10:
		waiting = fmt.Errorf("these and %d more do not run it yet: %s", len(late)-10, strings.Join(late[:10], " "))
	case len(late) > 0:
		waiting = fmt.Errorf("these do not run it yet: %s", strings.Join(late, " "))
	case len(status.Replicas) == 0:
		waiting = errors.New("no replica reports")
	case now.Rollout != nil:
		waiting = errors.New("the rollout goes on")
	}
	return waiting, nil
}

// byServer is the Change.By of what the server does by itself; no token has that name.
const byServer = "fleetd"

// follows reports whether p is a later step of before's rollout, or its good end.
func (p *Plan) follows(before *Plan) bool {
	if before.Rollout == nil || before.Canary == nil {
		return false
	}
	revision := before.Canary.Revision
	if p.Rollout != nil && p.Canary != nil {
		return p.Canary.Revision == revision
	}
	return p.Canary == nil && p.Stable == revision
}
