// Command demo compares poolswap with three other ways to replace a table under
// its readers. The table maps half a million address ranges to numbers, as a
// service would look up the network of a client.
//
//	make demo
//	go run ./examples/demo -for 60s -table asn-ipv4.csv
//
// The ways take turns, so that a machine that gets busy slows all of them. Each
// turn is a process of its own, with the same table, the same writer and as many
// readers as there are processors:
//
//   - poolswap: the writer fills an earlier table that no reader holds any more.
//   - atomic.Pointer: the writer makes a new table, and readers load a pointer.
//   - RWMutex, in place: the writer refills the only table while readers wait.
//   - RWMutex, two tables: the writer fills a spare table and exchanges the two
//     under the lock. Readers hold the read lock while they look up.
//
// Every row of a table has the number of its version, and every answer is
// checked. The exit status is 0 if all were right, 1 if one was wrong or a process
// failed, 2 after a bad command line, and 130 after an interrupt.
//
// The published table is in the npm package @ip-location-db/asn: npm pack
// @ip-location-db/asn, and unpack asn-ipv4.csv.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"
)

// The exit statuses.
const (
	passed      = 0
	failed      = 1
	misused     = 2
	interrupted = 130
)

func main() {
	os.Exit(run(ways, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// run is the whole command, for some of the ways. It returns the exit status.
func run(ways []way, arguments []string, stdin io.Reader, stdout, stderr io.Writer) int {
	if len(arguments) == 4 && arguments[0] == turnArgument {
		return report(stderr, serveTurn(ways, arguments[1:], stdin, stdout))
	}
	given, err := parse(arguments, stdout)
	if err != nil || given == nil {
		return report(stderr, err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	status := report(stderr, compare(ctx, ways, given, stdout, stderr))
	if ctx.Err() != nil {
		fmt.Fprintln(stderr, "demo: interrupted")
		return interrupted
	}
	return status
}

// misuse is an error of the command line.
type misuse struct{ error }

// report prints the error, unless it is an interrupt, and returns the exit status.
func report(stderr io.Writer, err error) int {
	var wrong misuse
	switch {
	case err == nil:
		return passed
	case !errors.Is(err, context.Canceled):
		fmt.Fprintln(stderr, "demo:", err)
	}
	if errors.As(err, &wrong) {
		return misused
	}
	return failed
}

// input is the input of the command line: a time in all, and encoded rows.
type input struct {
	total   time.Duration
	encoded []byte
}

// parse returns the input, or nil if the arguments ask for help, which it prints.
func parse(arguments []string, stdout io.Writer) (*input, error) {
	flags := flag.NewFlagSet("demo", flag.ContinueOnError)
	flags.SetOutput(io.Discard) // the error says it
	total := flags.Duration("for", 24*time.Second, "measure for this `time` in all")
	path := flags.String("table", "", "read address ranges from this `file` of lines start,end,number,name; else make up 500,000")
	switch err := flags.Parse(arguments); {
	case errors.Is(err, flag.ErrHelp):
		var help strings.Builder
		flags.SetOutput(&help)
		flags.PrintDefaults()
		_, err := fmt.Fprintf(stdout, "demo compares ways to replace a table under its readers.\n%s", &help)
		return nil, err
	case err != nil:
		return nil, misuse{fmt.Errorf("%w; -h lists the flags", err)}
	case flags.NArg() > 0:
		return nil, misuse{fmt.Errorf("unexpected argument %q; -h lists the flags", flags.Arg(0))}
	case *total <= 0 || *total > 24*time.Hour:
		return nil, misuse{fmt.Errorf("-for %v: the time must be positive, and a day at most", *total)}
	}
	encoded := madeUp(madeUpRanges)
	if *path != "" {
		var err error
		if encoded, err = readFile(*path); err != nil {
			return nil, err
		}
	}
	return &input{*total, encoded}, nil
}

// rounds is how many turns each way has.
const rounds = 3

// compare gives each way its turns and prints the table.
func compare(ctx context.Context, ways []way, given *input, stdout, stderr io.Writer) error {
	if err := printHead(stdout, len(given.encoded)/encodedRow, given.total/time.Duration(len(ways))); err != nil {
		return err
	}
	turns := rounds * len(ways)
	each := max(given.total/time.Duration(turns), 1)
	line := newProgress(stderr, turns, each)
	results := make([]result, len(ways))
	var use usage
	for i := range turns {
		way, sum := ways[i%len(ways)], &results[i%len(ways)]
		line.begin(way.name)
		r, err := takeTurn(ctx, way.name, each, given.encoded, stderr, &use)
		line.end()
		if err != nil {
			return err
		}
		sum.add(r)
	}
	return printTable(stdout, ways, results, use)
}
