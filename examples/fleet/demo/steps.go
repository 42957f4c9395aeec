package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"slices"
	"time"

	"github.com/poolswap/poolswap/fleet"
)

func (d *demo) start(ctx context.Context) error {
	if err := d.serve(ctx); err != nil {
		return err
	}
	for _, r := range d.replicas {
		password, err := d.password(ctx, r.id)
		if err != nil {
			return err
		}
		if err := os.WriteFile(d.file(r.id+".password"), []byte(password), 0o600); err != nil {
			return err
		}
		if err := d.startReplica(ctx, r, http.StatusServiceUnavailable); err != nil {
			return err
		}
	}
	d.say("Nothing is published yet: each replica says that it is not ready.")
	return nil
}

func (d *demo) publishFirst(ctx context.Context) error {
	if err := d.upload(ctx, 1); err != nil {
		return err
	}
	var targets []*target
	for _, r := range d.replicas {
		if err := d.untilReady(ctx, r, http.StatusOK); err != nil {
			return err
		}
		targets = append(targets, &r.target)
	}
	d.stopAsking = d.checker.askAll(ctx, targets, d.askers)
	return d.goOn(ctx)
}

// publish publishes an edition, and waits until every replica answers from it.
func (d *demo) publish(ctx context.Context, e int) error {
	began := time.Now()
	if err := d.upload(ctx, e); err != nil {
		return err
	}
	return d.swapped(ctx, e, began)
}

func (d *demo) upload(ctx context.Context, e int) error {
	revision, err := d.command(ctx, "publish", "asn", edition(e), "-why", day(e))
	if err != nil {
		return err
	}
	d.checker.learn(revision, e)
	return nil
}

func day(e int) string { return fmt.Sprintf("table of day %d", e) }

// canary stores a file of an edition, and lets a third of the replicas try it.
func (d *demo) canary(ctx context.Context, file string, e int, why string) (revision string, err error) {
	if revision, err = d.command(ctx, "store", "asn", file); err != nil {
		return "", err
	}
	d.checker.learn(revision, e)
	_, err = d.command(ctx, "canary", "asn", revision, "-share", "0.3", "-why", why)
	return revision, err
}

func (d *demo) breakCanary(ctx context.Context) error {
	if _, err := d.canary(ctx, "broken.csv", 0, day(3)); err != nil {
		return err
	}
	if err := d.untilStatus(ctx, "the canary is on hold", func(s *fleet.Status) bool { return s.Plan.Hold != "" }); err != nil {
		return err
	}
	if err := d.refused(ctx, "promote", "asn"); err != nil {
		return err
	}
	return d.goOn(ctx)
}

func (d *demo) rollBack(ctx context.Context) error {
	if _, err := d.command(ctx, "rollback", "asn", "-why", "the file is broken"); err != nil {
		return err
	}
	began := time.Now()
	if _, err := d.command(ctx, "rollback", "asn", "-why", "day 2 may be, too"); err != nil {
		return err
	}
	return d.swapped(ctx, 1, began)
}

func (d *demo) killServer(ctx context.Context) error {
	d.server.kill()
	if err := d.refused(ctx, "publish", "asn", edition(3)); err != nil {
		return err
	}
	return d.goOn(ctx)
}

// restart restarts a replica, which has what it has kept in its spool.
func (d *demo) restart(ctx context.Context) error {
	r := d.replicas[2]
	r.away.Store(true)
	if err := r.process.stop(ctx); err != nil {
		return fmt.Errorf("%s was asked to end: %w", r.id, err)
	}
	if err := d.startReplica(ctx, r, http.StatusOK); err != nil {
		return err
	}
	r.away.Store(false)
	var status struct {
		State, Stale string
		Failures     int
	}
	if err := until(ctx, r.id+" says that it has asked the server", func() bool {
		_, text, err := get(ctx, d.client, r.url+"/status?format=json")
		return err == nil && json.Unmarshal(text, &status) == nil && status.Failures > 0
	}, r.process); err != nil {
		return err
	}
	d.say("%s serves from its spool. It says that it is %s: %s.", r.id, status.State, status.Stale)
	return d.goOn(ctx)
}

func (d *demo) recover(ctx context.Context) error {
	began := time.Now()
	if err := d.serve(ctx); err != nil {
		return err
	}
	d.say("The server is ready after %.1f s.", time.Since(began).Seconds())
	return d.publish(ctx, 3)
}

func (d *demo) promote(ctx context.Context) error {
	revision, err := d.canary(ctx, edition(4), 4, day(4))
	if err != nil {
		return err
	}
	began := time.Now()
	if err := d.untilStatus(ctx, "a replica of the canary reports that it runs it", func(s *fleet.Status) bool {
		return slices.ContainsFunc(s.Replicas, func(r fleet.Report) bool { return r.Revision == revision })
	}); err != nil {
		return err
	}
	d.say("A replica reports that it runs it after %.1f s.", time.Since(began).Seconds())
	if err := d.goOn(ctx); err != nil {
		return err
	}
	began = time.Now()
	if _, err := d.command(ctx, "promote", "asn", "-why", "the canary is well"); err != nil {
		return err
	}
	return d.swapped(ctx, 4, began)
}

func (d *demo) history(ctx context.Context) error {
	_, err := d.command(ctx, "history", "asn")
	return err
}
