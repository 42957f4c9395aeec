// Command demo shows a fleet: a server, three replicas, publications good and bad,
// a server that is killed. It asks the replicas all the while, and checks every
// answer. See README.md of the folder above.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	o := options{}
	flag.IntVar(&o.rows, "rows", 0, "make up tables of so many `rows`, and download none")
	flag.IntVar(&o.askers, "askers", 4, "how `many` requests each replica has at a time")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if _, err := run(ctx, o, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "\nThe demo FAILED:", err)
		os.Exit(1)
	}
}

type options struct {
	rows   int // of tables that are made up; 0: download published ones
	askers int // of each replica
}

// run runs the whole demo, and returns what the replicas answered. It returns an
// error if a step did not come about, or an answer was failed or mixed.
func run(ctx context.Context, o options, out io.Writer) (*checker, error) {
	if o.rows != 0 && (o.rows < 1000 || o.rows > 10_000_000) || o.askers < 1 {
		return nil, errors.New("-rows is 0, or from 1000 to 10000000, and -askers at least 1")
	}
	dir, err := os.MkdirTemp("", "fleet-demo-")
	if err != nil {
		return nil, err
	}
	d := &demo{options: o, out: out, dir: dir, client: newClient()}
	defer d.client.CloseIdleConnections()
	err = d.tell(ctx)
	d.stop()
	d.kill()
	if err != nil && ctx.Err() == nil { // not interrupted
		return d.checker, fmt.Errorf("%w\nlogs and files are in %s", err, dir)
	}
	return d.checker, errors.Join(err, os.RemoveAll(dir))
}
