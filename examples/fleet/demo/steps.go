package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/poolswap/poolswap/fleet"
)

const enough = 200 // answers of each replica, before the demo goes on

// failure is the error that ends the demo: [must] panics with it, and tell recovers.
type failure struct{ error }

func must(err error) {
	if err != nil {
		panic(failure{err})
	}
}

// serve starts the server.
func (d *demo) serve(ctx context.Context) {
	d.say("$ fleetd serve -addr %s -dir server", d.address)
	d.server = start(ctx, d.file("server.log"), d.fleetd, "serve", "-addr", d.address, "-dir", d.file("server"))
	d.until(ctx, "the server answers", func() bool {
		_, err := d.run(ctx, "names")
		return err == nil
	})
}

func (d *demo) start(ctx context.Context) {
	d.serve(ctx)
	for _, r := range d.replicas {
		d.command(ctx, "token", "make", "-role", "replica", "-names", "asn", "-ids", r.id, "-o", r.id+".token", r.id)
		d.launch(ctx, r, "/status")
	}
	_, _, err := get(ctx, http.DefaultClient, d.replicas[2].url+"/ready")
	d.say("Nothing is published yet. r3 says whether it is ready: %v", err)
}

// launch starts a replica, and waits until it has a page.
func (d *demo) launch(ctx context.Context, r *replica, page string) {
	r.process = start(ctx, d.file(r.id+".log"), d.program, r.args...)
	d.untilServes(ctx, r, page)
}

func (d *demo) untilServes(ctx context.Context, r *replica, page string) {
	d.until(ctx, r.id+" serves "+page, func() bool {
		_, _, err := get(ctx, http.DefaultClient, r.url+page)
		return err == nil
	})
}

func (d *demo) publishFirst(ctx context.Context) {
	client, err := fleet.NewClient("http://"+d.address, fleet.ClientOptions{TokenFile: d.file("server/admin.token")})
	must(err)
	d.publisher, err = fleet.NewPublisher(client, "asn", fleet.PublisherOptions{Key: d.key})
	must(err)
	revision := d.command(ctx, "publish", "-new", "-key", "publisher.key", "-rows", "csv", "-why", "all rows", "asn", "table.csv")
	began := time.Now()
	d.checker.learn(revision, d.current)
	for _, r := range d.replicas {
		d.untilServes(ctx, r, "/ready")
		d.checker.askAll(r)
	}
	d.swapped(ctx, began)
}

// next makes the next edition, and has the replicas asked for the rows that it changes.
func (d *demo) next() *edition {
	d.editions++
	e := d.current.next(d.editions)
	d.checker.watch(e.rows)
	return e
}

// change changes ten rows each second, so many times.
func (d *demo) change(ctx context.Context, times int) {
	var delays []time.Duration
	var size int64
	for range times {
		e := d.next()
		began := time.Now()
		r, _, err := d.publisher.WithState(e.hash.Sum()).PublishDelta(ctx, d.current.revision, e.delta(e.rows), fmt.Sprint("edition ", e.number))
		must(err)
		d.checker.learn(r.ID, e)
		d.current, size = e, r.Size
		d.untilSwapped(ctx)
		delays = append(delays, time.Since(began))
		time.Sleep(time.Second - time.Since(began))
	}
	slices.Sort(delays)
	d.say("%d deltas, the last of %d bytes. All replicas answered from each after %.2f s (median), or %.2f s (longest).",
		times, size, delays[times/2].Seconds(), delays[times-1].Seconds())
	d.goOn(ctx)
}

func (d *demo) changeWhileRead(ctx context.Context) {
	compared := make(chan error, 1)
	go func() { compared <- d.compare(ctx) }()
	d.change(ctx, 10)
	must(<-compared)
}

// compare reads all rows of each replica, and compares them with those of the revision
// that it says it runs.
func (d *demo) compare(ctx context.Context) error {
	var of []string
	for _, r := range d.replicas {
		rows, header, err := get(ctx, http.DefaultClient, r.url+"/table")
		var e *edition
		if err == nil {
			e, err = d.checker.edition(header.Get("Revision"))
		}
		if err == nil {
			err = e.compare(rows)
		}
		if err != nil {
			return fmt.Errorf("the table of %s: %w", r.id, err)
		}
		of = append(of, fmt.Sprintf("%s has edition %d", r.id, e.number))
	}
	d.say("All rows were read and compared: %s.", strings.Join(of, ", "))
	return nil
}

// canary lets a third of the replicas try a revision, until the status is right.
func (d *demo) canary(ctx context.Context, revision, until string, right func(*fleet.Status) bool) {
	d.command(ctx, "canary", "asn", revision, "-share", "0.3", "-why", "ten rows")
	began := time.Now()
	d.until(ctx, until, func() bool {
		text, err := d.run(ctx, "status", "-json", "asn")
		s := new(fleet.Status)
		return err == nil && json.Unmarshal([]byte(text), s) == nil && right(s)
	})
	d.say("After %.1f s, %s.", time.Since(began).Seconds(), until)
}

func (d *demo) breakCanary(ctx context.Context) {
	e := d.next()
	r, err := d.publisher.WithState(e.hash.Sum()).StoreDelta(ctx, d.current.revision, e.delta(e.rows[1:]))
	must(err)
	d.canary(ctx, r.ID, "the canary is on hold", func(s *fleet.Status) bool { return s.Plan.Canary.Hold != "" })
	d.refused(ctx, "promote", "asn")
	d.command(ctx, "status", "asn")
}

func (d *demo) rollBack(ctx context.Context) {
	d.command(ctx, "rollback", "asn", "-why", "the delta lacks a row")
	began := time.Now()
	d.command(ctx, "rollback", "asn", "-why", "the edition before may lack one, too")
	d.current = d.current.base
	d.swapped(ctx, began)
	must(d.compare(ctx))
}

func (d *demo) killServer(ctx context.Context) {
	d.server.kill()
	d.refused(ctx, "publish", "-key", "publisher.key", "asn", "table.csv")
}

// restart restarts a replica, which begins with its Cache.
func (d *demo) restart(ctx context.Context) {
	r := d.replicas[2]
	func() {
		r.restart.Lock()
		defer r.restart.Unlock()
		must(r.stop())
		d.launch(ctx, r, "/ready")
	}()
	var status struct {
		State, Stale string
		Failures     int
	}
	d.until(ctx, r.id+" says that it has asked the server", func() bool {
		text, _, err := get(ctx, http.DefaultClient, r.url+"/status?format=json")
		return err == nil && json.Unmarshal(text, &status) == nil && status.Failures > 0
	})
	d.say("%s serves from its spool. It says that it is %s: %s.", r.id, status.State, status.Stale)
	d.goOn(ctx)
}

func (d *demo) recover(ctx context.Context) {
	began := time.Now()
	d.serve(ctx)
	d.say("The server is ready after %.1f s.", time.Since(began).Seconds())
	d.change(ctx, 5)
}

func (d *demo) promote(ctx context.Context) {
	e := d.next()
	must(os.WriteFile(d.file("table.csv"), e.all().Bytes(), 0o600))
	revision := d.command(ctx, "store", "-key", "publisher.key", "-rows", "csv", "-delta-from", d.current.revision, "asn", "table.csv")
	d.checker.learn(revision, e)
	d.canary(ctx, revision, "a replica reports that it runs it", func(s *fleet.Status) bool {
		return slices.ContainsFunc(s.Replicas, func(r fleet.Report) bool { return r.Revision == revision })
	})
	began := time.Now()
	d.command(ctx, "promote", "asn", "-why", "the canary is well")
	d.current = e
	d.swapped(ctx, began)
	d.command(ctx, "history", "asn")
}

// judge compares the tables, ends the replicas, and judges all their answers.
func (d *demo) judge(ctx context.Context) {
	must(d.compare(ctx))
	d.checker.stop()
	for _, r := range d.replicas {
		must(r.stop())
	}
	must(d.checker.wrong)
}

// swapped waits until every replica answers from the current edition, and says so.
func (d *demo) swapped(ctx context.Context, since time.Time) {
	d.untilSwapped(ctx)
	d.say("Every replica answers from edition %d after %.1f s.", d.current.number, time.Since(since).Seconds())
	d.goOn(ctx)
}

func (d *demo) untilSwapped(ctx context.Context) {
	for _, r := range d.replicas {
		d.until(ctx, fmt.Sprintf("%s answers from edition %d", r.id, d.current.number), func() bool {
			return d.checker.tally(r.id).latest == d.current.number
		})
	}
}

// goOn waits until every replica has given some more answers.
func (d *demo) goOn(ctx context.Context) {
	for _, r := range d.replicas {
		before := d.checker.tally(r.id).right
		d.until(ctx, r.id+" goes on answering", func() bool { return d.checker.tally(r.id).right >= before+enough })
	}
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

// shown runs fleetd, and prints the command and its output.
func (d *demo) shown(ctx context.Context, args []string) (string, error) {
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

// command runs a command that must succeed, and returns its output.
func (d *demo) command(ctx context.Context, args ...string) string {
	out, err := d.shown(ctx, args)
	must(err)
	return out
}

// refused runs a command that must fail.
func (d *demo) refused(ctx context.Context, args ...string) {
	_, err := d.shown(ctx, args)
	if err == nil {
		must(fmt.Errorf("fleetd %s must fail here, and did not", args[0]))
	}
	d.say("%v", err)
	d.goOn(ctx)
}
