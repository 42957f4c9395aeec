package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

const (
	editions = 4   // that are published
	enough   = 200 // answers of each replica, before the demo goes on
)

// demo is the whole demo.
type demo struct {
	options
	out   io.Writer
	dir   string
	began time.Time

	fleetd, program string // the programs that were built
	address         string // of the server
	server          *process
	replicas        []*replica
	client          *http.Client // for all but the questions

	checker    *checker
	stopAsking func() // nil before it began
}

// replica is one of the three.
type replica struct {
	target
	args    []string
	process *process
	starts  int
}

// tell runs the steps, and says after each what the replicas answered meanwhile.
func (d *demo) tell(ctx context.Context) error {
	d.began = time.Now()
	before := map[string]tally{}
	for _, step := range []struct {
		title string
		run   func(context.Context) error
	}{
		{"Build fleetd and the replica. Make four editions of a table, and one that is broken.", d.prepare},
		{"Start the server and three replicas.", d.start},
		{"Publish edition 1. From now on each replica is asked all the time.", d.publishFirst},
		{"Publish edition 2.", func(ctx context.Context) error { return d.publish(ctx, 2) }},
		{"Store a broken file, and let one replica try it.", d.breakCanary},
		{"Roll back: end the canary, and then go back to edition 1.", d.rollBack},
		{"Kill the server with -9.", d.killServer},
		{"Restart r3 while the server is down.", d.restart},
		{"Start the server again, and publish edition 3.", d.recover},
		{"Let one replica try edition 4, and promote it.", d.promote},
		{"Look at the history.", d.history},
	} {
		d.title(step.title)
		if err := step.run(ctx); err != nil {
			return err
		}
		if d.stopAsking == nil {
			continue
		}
		for _, r := range d.replicas {
			now := d.checker.tally(r.id)
			d.say("%s: %s", r.id, now.minus(before[r.id]))
			before[r.id] = now
		}
	}
	return d.judge(ctx)
}

// title prints the title of a step.
func (d *demo) title(text string) {
	fmt.Fprintf(d.out, "\n%5.1f s  %s\n", time.Since(d.began).Seconds(), text)
}

// say prints lines of a step.
func (d *demo) say(format string, args ...any) {
	for line := range strings.Lines(fmt.Sprintf(format, args...)) {
		fmt.Fprintf(d.out, "         %s\n", strings.TrimRight(line, "\n"))
	}
}

// file returns the path of a file of the demo.
func (d *demo) file(name string) string { return filepath.Join(d.dir, name) }

// judge ends the replicas, and judges what they answered.
func (d *demo) judge(ctx context.Context) error {
	d.title("What the replicas answered in all:")
	d.stop()
	for _, r := range d.replicas {
		t := d.checker.tally(r.id)
		d.say("%s: %s", r.id, t)
		if err := r.process.stop(ctx); err != nil {
			return fmt.Errorf("%s was asked to end: %w", r.id, err)
		}
		for e := 1; e <= editions; e++ {
			if t.editions[e] == 0 {
				return fmt.Errorf("%s never answered from edition %d", r.id, e)
			}
		}
	}
	if err := d.checker.wrong(); err != nil {
		return err
	}
	d.say("No answer failed, and none was mixed.")
	return nil
}

// stop stops the questions.
func (d *demo) stop() {
	if d.stopAsking != nil {
		d.stopAsking()
	}
}

// kill ends every process that is left.
func (d *demo) kill() {
	for _, p := range append(d.running(), d.server) {
		if p != nil {
			p.kill()
		}
	}
}

// running returns the processes of the replicas.
func (d *demo) running() (all []*process) {
	for _, r := range d.replicas {
		all = append(all, r.process)
	}
	return all
}

// swapped waits until every replica answers from an edition.
func (d *demo) swapped(ctx context.Context, e int, since time.Time) error {
	err := until(ctx, fmt.Sprintf("every replica answers from edition %d", e), func() bool {
		return !slices.ContainsFunc(d.replicas, func(r *replica) bool { return d.checker.latest(r.id) != e })
	}, d.running()...)
	if err != nil {
		return err
	}
	d.say("Every replica answers from edition %d after %.1f s.", e, time.Since(since).Seconds())
	return d.goOn(ctx)
}

// goOn waits until every replica has given some more answers.
func (d *demo) goOn(ctx context.Context) error {
	before := map[string]int{}
	for _, r := range d.replicas {
		before[r.id] = d.checker.tally(r.id).right()
	}
	return until(ctx, "every replica goes on answering", func() bool {
		return !slices.ContainsFunc(d.replicas, func(r *replica) bool { return d.checker.tally(r.id).right() < before[r.id]+enough })
	}, d.running()...)
}
