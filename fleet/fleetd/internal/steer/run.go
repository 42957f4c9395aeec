package steer

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/poolswap/poolswap/fleet"
)

// Author is who made the changes that the server made by itself.
const Author = "fleetd"

// Store is what a driver needs of a store.
type Store interface {
	Leader() bool
	Names() []string
	Plan(name string) (*fleet.Plan, error)
	Reports(name string) []fleet.Report
	Change(ctx context.Context, name, at, by string, f func(next *fleet.Plan, change *fleet.Change) error) (*fleet.Plan, error)

	// Ahead returns the replicas that follow a later plan than there is.
	Ahead(name string) []string
	// Repair with revision "" begins a new epoch of the plan.
	Repair(ctx context.Context, name, by, revision, why string) (*fleet.Plan, error)
}

// interval is how often a driver looks.
const interval = time.Second

// changeTimeout bounds a change of a plan: other names wait meanwhile.
const changeTimeout = 10 * time.Second

// Run guards the canaries and drives the rollouts of all names until ctx ends, as long
// as this node is the leader. Each change is compared and set, so of two drivers at
// once one has its way.
func Run(ctx context.Context, store Store, logger *slog.Logger) {
	d := newDriver(store, logger)
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			d.round(ctx, time.Now())
		}
	}
}

type driver struct {
	store    Store
	logger   *slog.Logger
	steps    map[string]*step     // by name
	overtook map[string]overtaken // by name
}

func newDriver(store Store, logger *slog.Logger) *driver {
	return &driver{store: store, logger: logger, steps: map[string]*step{}, overtook: map[string]overtaken{}}
}

// round looks at each name once.
func (d *driver) round(ctx context.Context, now time.Time) {
	if !d.store.Leader() {
		clear(d.steps)
		return
	}
	names := map[string]bool{}
	for _, name := range d.store.Names() {
		names[name] = true
		d.overtake(ctx, name, now)
		d.one(ctx, name, now)
	}
	for name := range d.steps {
		if !names[name] {
			delete(d.steps, name)
		}
	}
}

// overtaken says when a new epoch of a name was tried last, and whether one began.
type overtaken struct {
	at    time.Time
	began bool
}

// overtakePause is the least time between two epochs of a name.
const overtakePause = time.Minute

// overtake begins a new epoch where replicas follow a later plan than the store has:
// it is an older copy, and no replica would take its plans. A copy is put back while the
// server is down, so the first replica that is ahead is believed. From then on it takes
// most of those that report: one that lies could begin epochs for ever.
func (d *driver) overtake(ctx context.Context, name string, now time.Time) {
	ahead := d.store.Ahead(name)
	last, tried := d.overtook[name]
	if len(ahead) == 0 || tried && now.Sub(last.at) < overtakePause || last.began && 2*len(ahead) <= len(d.store.Reports(name)) {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, changeTimeout)
	defer cancel()
	why := fmt.Sprintf("%d replicas follow a later plan, such as %s: the store is an older copy", len(ahead), ahead[0])
	_, err := d.store.Repair(ctx, name, Author, "", why)
	d.overtook[name] = overtaken{now, last.began || err == nil}
	d.logger.Error("fleetd: the plans of a name begin anew", slog.String("name", name), slog.String("why", why), slog.Any("error", err))
}

func (d *driver) one(ctx context.Context, name string, now time.Time) {
	plan, err := d.store.Plan(name)
	if err != nil || plan.Canary == nil { // one that cannot be read is told elsewhere
		delete(d.steps, name)
		return
	}
	replicas := d.store.Reports(name)
	if plan.Rollout == nil {
		delete(d.steps, name)
		d.guard(ctx, plan, replicas)
		return
	}
	s := d.steps[name]
	if !s.watches(plan) {
		s = watch(plan)
		d.steps[name] = s
	}
	switch verdict, why := s.look(plan, replicas, now); verdict {
	case wait:
	case pass:
		d.pass(ctx, plan, replicas)
	case stop:
		d.change(ctx, plan, fleet.KindRollback, why, func(next *fleet.Plan, change *fleet.Change) error {
			return rollback(next, change, fleet.Revision{}, replicas)
		})
	}
}

// guard puts a canary on hold that one of its replicas refuses.
func (d *driver) guard(ctx context.Context, plan *fleet.Plan, replicas []fleet.Report) {
	if plan.Canary.Hold != "" {
		return
	}
	g := groupOf(plan, replicas)
	if len(g.refusing) == 0 {
		return
	}
	why := fmt.Sprintf("%s: %s", g.refusing[0].ID, g.refusing[0].Error)
	d.change(ctx, plan, fleet.KindHold, why, func(next *fleet.Plan, change *fleet.Change) error {
		next.Canary.Hold, change.To = why, next.Canary.Revision
		return nil
	})
}

// pass takes the next step, or makes the revision stable after the last one.
func (d *driver) pass(ctx context.Context, plan *fleet.Plan, replicas []fleet.Report) {
	r := plan.Revisions[plan.Canary.Revision]
	if plan.Rollout.Step == len(plan.Rollout.Steps)-1 {
		d.change(ctx, plan, fleet.KindPromote, "the rollout ended well", func(next *fleet.Plan, change *fleet.Change) error {
			change.To = r.ID
			release(next, r, replicas)
			return nil
		})
		return
	}
	d.change(ctx, plan, fleet.KindWiden, "", func(next *fleet.Plan, change *fleet.Change) error {
		next.Rollout.Step++
		takeStep(next, change, r, replicas)
		return nil
	})
}

// change makes a change of exactly this plan. If it fails, the next round looks again.
func (d *driver) change(ctx context.Context, plan *fleet.Plan, kind fleet.Kind, why string, f func(*fleet.Plan, *fleet.Change) error) {
	ctx, cancel := context.WithTimeout(ctx, changeTimeout)
	defer cancel()
	why = strings.ToValidUTF8(why[:min(len(why), fleet.MaxWhy)], "")
	revision := plan.Canary.Revision
	_, err := d.store.Change(ctx, plan.Name, plan.Version(), Author, func(next *fleet.Plan, change *fleet.Change) error {
		change.Kind, change.Why, change.From = kind, why, next.Stable
		return f(next, change)
	})
	log := d.logger.With(slog.String("name", plan.Name), slog.String("change", string(kind)), slog.String("revision", revision), slog.String("why", why))
	switch {
	case errors.Is(err, fleet.ErrConflict):
	case err != nil:
		log.Error("fleetd: a plan could not be changed", slog.Any("error", err))
	case kind == fleet.KindRollback || kind == fleet.KindHold:
		log.Warn("fleetd: a revision did not pass")
	default:
		log.Info("fleetd: a rollout goes on")
	}
}
