// Command demo shows a fleet: a server and three replicas with a table of a million rows,
// ten of which change each second, a publication that is bad, and a server that is killed.
// It asks the replicas all the while, and checks every answer. See README.md of the folder
// above.
package main

import (
	"context"
	"crypto/ed25519"
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

	"github.com/poolswap/poolswap/fleet"
)

func main() {
	rows := flag.Int("rows", 1_000_000, "make up a table of so many `rows`")
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
	rows  int
	out   io.Writer
	dir   string
	began time.Time

	fleetd, program string // the programs that were built
	address         string // of the server
	key             ed25519.PrivateKey
	publisher       *fleet.Publisher
	editions        int      // that were made after the first
	current         *edition // that is stable
	server          *process
	replicas        []*replica
	checker         *checker
}

// run runs the demo. It returns an error if a step did not come about, or an answer was
// failed or mixed.
func run(ctx context.Context, rows int, out io.Writer) error {
	if rows < 1000 || rows > 10_000_000 {
		return errors.New("-rows is from 1000 to 10000000")
	}
	dir, err := os.MkdirTemp("", "fleet-demo-")
	if err != nil {
		return err
	}
	d := &demo{rows: rows, out: out, dir: dir, began: time.Now(), checker: newChecker(ctx, rows)}
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
func (d *demo) tell(ctx context.Context) (err error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case failure:
			err = r.error
		default:
			panic(r)
		}
	}()
	for _, step := range []struct {
		title string
		run   func(context.Context)
	}{
		{"Build fleetd and the replica, and make a table.", d.prepare},
		{"Start the server and three replicas.", d.start},
		{"Publish the table. From now on each replica is asked all the time.", d.publishFirst},
		{"Change ten rows each second, and read whole tables meanwhile.", d.changeWhileRead},
		{"Store a delta that lacks a row, and let one replica try it.", d.breakCanary},
		{"Roll back: end the canary, and then go back to the edition before.", d.rollBack},
		{"Kill the server with -9.", d.killServer},
		{"Restart r3 while the server is down.", d.restart},
		{"Start the server again, and change ten rows each second.", d.recover},
		{"Store a file with ten other rows as a delta, let one replica try it, promote it, and look at the history.", d.promote},
		{"Compare all rows, and judge all answers.", d.judge},
	} {
		fmt.Fprintf(d.out, "\n%5.1f s  %s\n", time.Since(d.began).Seconds(), step.title)
		step.run(ctx)
		for _, r := range d.replicas {
			if now := d.checker.tally(r.id); now.right > 0 {
				d.say("%s: %s", r.id, now)
			}
		}
	}
	d.say("No answer failed, none was mixed, and each table is that of its revision.")
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
