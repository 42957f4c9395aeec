package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os/exec"
	"strings"
	"time"

	"github.com/poolswap/poolswap/fleet"
)

const (
	editions = 4   // that are published
	enough   = 200 // answers of each replica, before the demo goes on
)

// serve starts the server.
func (d *demo) serve(ctx context.Context) (err error) {
	d.say("$ fleetd serve -addr %s -dir server", d.address)
	if d.server, err = start(d.file("server.log"), d.fleetd, "serve", "-addr", d.address, "-dir", d.file("server")); err != nil {
		return err
	}
	return d.until(ctx, "the server answers", func() bool {
		_, err := d.run(ctx, "names")
		return err == nil
	})
}

func (d *demo) start(ctx context.Context) error {
	if err := d.serve(ctx); err != nil {
		return err
	}
	for _, r := range d.replicas {
		if _, err := d.command(ctx, "token", "make", "-role", "replica", "-names", "asn", "-ids", r.id, "-o", r.id+".token", r.id); err != nil {
			return err
		}
		if err := d.launch(ctx, r, http.StatusServiceUnavailable); err != nil {
			return err
		}
	}
	d.say("Nothing is published yet: each replica says that it is not ready.")
	return nil
}

// launch starts a replica, and waits until it says whether it is ready.
func (d *demo) launch(ctx context.Context, r *replica, status int) (err error) {
	if r.process, err = start(d.file(r.id+".log"), d.program, r.args...); err != nil {
		return err
	}
	return d.untilReady(ctx, r, status)
}

func (d *demo) untilReady(ctx context.Context, r *replica, status int) error {
	return d.until(ctx, fmt.Sprintf("%s answers /ready with %d", r.id, status), func() bool {
		got, _, err := get(ctx, http.DefaultClient, r.url+"/ready")
		return err == nil && got == status
	})
}

func (d *demo) publishFirst(ctx context.Context) error {
	if err := d.upload(ctx, "publish", edition(1), 1, "-new"); err != nil {
		return err
	}
	for _, r := range d.replicas {
		if err := d.untilReady(ctx, r, http.StatusOK); err != nil {
			return err
		}
	}
	for _, r := range d.replicas {
		d.checker.askAll(r)
	}
	return d.swapped(ctx, 1, time.Now())
}

// publish publishes an edition, and waits until every replica answers from it.
func (d *demo) publish(ctx context.Context, e int) error {
	began := time.Now()
	if err := d.upload(ctx, "publish", edition(e), e); err != nil {
		return err
	}
	return d.swapped(ctx, e, began)
}

// upload stores or publishes a file of an edition.
func (d *demo) upload(ctx context.Context, command, file string, e int, flags ...string) error {
	if command == "publish" {
		flags = append(flags, "-why", fmt.Sprint("table of day ", e))
	}
	revision, err := d.command(ctx, append([]string{command, "-key", "publisher.key", "asn", file}, flags...)...)
	if err != nil {
		return err
	}
	return d.checker.learn(revision, e)
}

// canary stores a file of an edition, and lets a third of the replicas try it.
func (d *demo) canary(ctx context.Context, file string, e int) error {
	if err := d.upload(ctx, "store", file, e); err != nil {
		return err
	}
	_, err := d.command(ctx, "canary", "asn", d.checker.last, "-share", "0.3", "-why", "a new table")
	return err
}

func (d *demo) breakCanary(ctx context.Context) error {
	if err := d.canary(ctx, "broken.csv", 0); err != nil {
		return err
	}
	if err := d.untilStatus(ctx, "the canary is on hold", func(s *fleet.Status) bool { return s.Plan.Canary.Hold != "" }); err != nil {
		return err
	}
	return d.refused(ctx, "promote", "asn")
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
	return d.refused(ctx, "publish", "-key", "publisher.key", "asn", edition(3))
}

// restart restarts a replica, which begins with its Cache.
func (d *demo) restart(ctx context.Context) error {
	r := d.replicas[2]
	r.away.Store(true)
	if err := d.stop(ctx, r); err != nil {
		return err
	}
	if err := d.launch(ctx, r, http.StatusOK); err != nil {
		return err
	}
	r.away.Store(false)
	var status struct {
		State, Stale string
		Failures     int
	}
	if err := d.until(ctx, r.id+" says that it has asked the server", func() bool {
		_, text, err := get(ctx, http.DefaultClient, r.url+"/status?format=json")
		return err == nil && json.Unmarshal(text, &status) == nil && status.Failures > 0
	}); err != nil {
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
	if err := d.canary(ctx, edition(4), 4); err != nil {
		return err
	}
	began := time.Now()
	if err := d.untilStatus(ctx, "a replica of the canary reports that it runs it", func(s *fleet.Status) bool {
		for _, r := range s.Replicas {
			if r.Revision == s.Plan.Canary.Revision {
				return true
			}
		}
		return false
	}); err != nil {
		return err
	}
	d.say("A replica reports that it runs it after %.1f s.", time.Since(began).Seconds())
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

// judge ends the replicas, and judges all their answers.
func (d *demo) judge(ctx context.Context) error {
	d.checker.stop()
	for _, r := range d.replicas {
		if err := d.stop(ctx, r); err != nil {
			return err
		}
		d.say("%s: %s", r.id, d.checker.tally(r.id))
		for e := 1; e <= editions; e++ {
			if d.checker.tally(r.id).editions[e] == 0 {
				return fmt.Errorf("%s never answered from edition %d", r.id, e)
			}
		}
	}
	return d.checker.wrong()
}

// swapped waits until every replica answers from an edition.
func (d *demo) swapped(ctx context.Context, e int, since time.Time) error {
	if err := d.until(ctx, fmt.Sprintf("every replica answers from edition %d", e), func() bool {
		all := true
		for _, r := range d.replicas {
			all = all && d.checker.tally(r.id).latest == e
		}
		return all
	}); err != nil {
		return err
	}
	d.say("Every replica answers from edition %d after %.1f s.", e, time.Since(since).Seconds())
	return d.goOn(ctx)
}

// goOn waits until every replica has given some more answers.
func (d *demo) goOn(ctx context.Context) error {
	for _, r := range d.replicas {
		before := d.checker.tally(r.id).right()
		if err := d.until(ctx, r.id+" goes on answering", func() bool { return d.checker.tally(r.id).right() >= before+enough }); err != nil {
			return err
		}
	}
	return nil
}

// run runs fleetd, and returns its output.
func (d *demo) run(ctx context.Context, args ...string) (string, error) {
	c := exec.CommandContext(ctx, d.fleetd, args...)
	c.Dir, c.Env = d.dir, append(c.Environ(), "FLEETD_SERVER=http://"+d.address, "FLEETD_TOKEN_FILE="+d.file("server/admin.token"))
	var failure strings.Builder
	c.Stderr = &failure
	out, err := c.Output()
	if err != nil {
		err = fmt.Errorf("%w: %s", err, strings.TrimSpace(failure.String()))
	}
	return strings.TrimSpace(string(out)), err
}

// command runs fleetd, and prints the command and its output.
func (d *demo) command(ctx context.Context, args ...string) (string, error) {
	line := "$ fleetd"
	for _, arg := range args {
		if strings.Contains(arg, " ") {
			arg = fmt.Sprintf("%q", arg)
		}
		line += " " + arg
	}
	d.say("%s", line)
	out, err := d.run(ctx, args...)
	d.say("%s", out)
	return out, err
}

// refused runs a command that must fail.
func (d *demo) refused(ctx context.Context, args ...string) error {
	_, err := d.command(ctx, args...)
	if err == nil {
		return fmt.Errorf("fleetd %s must fail here, and did not", args[0])
	}
	d.say("%v", err)
	return d.goOn(ctx)
}

// untilStatus waits until the status of the server is right.
func (d *demo) untilStatus(ctx context.Context, what string, right func(*fleet.Status) bool) error {
	return d.until(ctx, what, func() bool {
		text, err := d.run(ctx, "status", "-json", "asn")
		s := new(fleet.Status)
		return err == nil && json.Unmarshal([]byte(text), s) == nil && right(s)
	})
}
