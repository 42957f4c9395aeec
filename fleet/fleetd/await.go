package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/poolswap/poolswap/fleet"
)

// awaitReplicas waits until every replica that reports runs what a plan wants, for so
// long. It ends early when a replica refuses that, or when the plan is changed.
func awaitReplicas(ctx context.Context, c *call, f *fleet.Controller, plan *fleet.Plan, long time.Duration) error {
	if long == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, long)
	defer cancel()
	last := errors.New("the server has not answered")
	for status, err := range f.Watch(ctx) {
		if err != nil {
			last = err
			continue
		}
		if held := status.Plan.Hold; held != "" && plan.Hold == "" && status.Plan.Epoch == plan.Epoch && status.Plan.Seq == plan.Seq+1 {
			return fmt.Errorf("fleetd: %s: the canary is on hold: %s", status.Name, held)
		}
		if status.Plan.Epoch != plan.Epoch || status.Plan.Seq != plan.Seq {
			return fmt.Errorf("fleetd: %s: %w: %s has made plan %d", status.Name, fleet.ErrConflict, status.Plan.Change.By, status.Plan.Seq)
		}
		waiting, refused := progress(status)
		switch {
		case refused != nil:
			return fmt.Errorf("fleetd: %s: %s has refused it: %s", status.Name, plain(refused.ID), plain(refused.Error))
		case len(waiting) > 0 && status.Plan.Paused && status.Plan.Change.What != "pause":
			return fmt.Errorf("fleetd: %s: it is paused: these stay with what they run: %s", status.Name, plain(strings.Join(waiting, " ")))
		case len(status.Replicas) == 0:
			last = fmt.Errorf("fleetd: %s: no replica reports", status.Name)
		case len(waiting) == 0 || status.Plan.Change.What == "pause":
			fmt.Fprintf(c.stdout, "%d replicas run what the plan wants\n", len(status.Replicas))
			return nil
		default:
			last = fmt.Errorf("fleetd: %s: after %v these do not run it: %s", status.Name, long, plain(strings.Join(waiting, " ")))
		}
	}
	return last
}

// progress returns the replicas that do not run what they should, and one of them
// that has refused it, if there is any. Those that the change was for should
// report, too.
func progress(status *fleet.Status) (waiting []string, refused *fleet.Report) {
	reports := map[string]bool{}
	for i := range status.Replicas {
		r := &status.Replicas[i]
		reports[r.ID] = true
		want := status.Plan.Wanted(r.ID).ID
		if r.Revision == want {
			continue
		}
		waiting = append(waiting, r.ID)
		if r.Failed == want {
			refused = r
		}
	}
	for _, id := range status.Plan.Change.Whom {
		if !reports[id] {
			waiting = append(waiting, id+" (which does not report)")
		}
	}
	return waiting, refused
}
