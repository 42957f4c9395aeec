// Command demo shows a fleet: a server, three replicas, publications good and bad, a
// server that is killed. It asks the replicas all the while, and checks every answer. See
// README.md of the folder above.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

func main() {
	rows := flag.Int("rows", 0, "make up tables of so many `rows`, and download none")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *rows, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "\nThe demo FAILED:", err)
		os.Exit(1)
	}
}

// demo is the whole demo.
type demo struct {
	rows  int // of tables that are made up; 0: download published ones
	out   io.Writer
	dir   string
	began time.Time

	fleetd, program string // the programs that were built
	address         string // of the server
	server          *process
	replicas        []*replica
	checker         *checker
}

// run runs the demo. It returns an error if a step did not come about, or an answer was
// failed or mixed.
func run(ctx context.Context, rows int, out io.Writer) error {
	if rows != 0 && (rows < 1000 || rows > 10_000_000) {
		return errors.New("-rows is 0, or from 1000 to 10000000")
	}
	dir, err := os.MkdirTemp("", "fleet-demo-")
	if err != nil {
		return err
	}
	d := &demo{rows: rows, out: out, dir: dir, began: time.Now(), checker: newChecker(ctx)}
	err = d.tell(ctx)
	d.checker.stop()
	for _, r := range d.replicas {
		r.kill()
	}
	d.server.kill()
	if err != nil && ctx.Err() == nil { // not interrupted
		return fmt.Errorf("%w\nlogs and files are in %s", err, dir)
	}
	return errors.Join(err, os.RemoveAll(dir))
}

// tell runs the steps, and prints after each the answers of the replicas meanwhile.
func (d *demo) tell(ctx context.Context) error {
	before := map[string]tally{}
	last := "All answers of the replicas:"
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
		{last, d.judge},
	} {
		fmt.Fprintf(d.out, "\n%5.1f s  %s\n", time.Since(d.began).Seconds(), step.title)
		if err := step.run(ctx); err != nil {
			return err
		}
		for _, r := range d.replicas {
			if now := d.checker.tally(r.id); len(now.editions) > 0 && step.title != last {
				d.say("%s: %s", r.id, now.minus(before[r.id]))
				before[r.id] = now
			}
		}
	}
	d.say("No answer failed, and none was mixed.")
	return nil
}

// say prints lines of a step.
func (d *demo) say(format string, args ...any) {
	for line := range strings.Lines(fmt.Sprintf(format, args...)) {
		fmt.Fprintf(d.out, "         %s\n", strings.TrimRight(line, "\n"))
	}
}

// file returns the path of a file of the demo.
func (d *demo) file(name string) string { return filepath.Join(d.dir, name) }
