// Mutants plants small faults in the protocol, one at a time, in scratch copies
// of the repository, and reports which layers of tests catch each.
//
//	go run ./internal/mutants [-layers unit,stress,...] [-first [-record]] [-times n] [-run regexp]
//
// It prints a table in Markdown. It fails if a fault survives all layers that
// ran, or survives the scheduler although the scheduler can see it. It also fails
// if the text of a fault is not in the source: the faults have to follow the code.
//
// With -first, each fault goes through the layers in the given order until one
// catches it, and the test that caught it before, by catches.txt, comes before
// all. That is the fastest way to see that each fault is caught: with
// -layers scheduler-brief,stepped,unit,machine-code the scheduler catches most,
// stepped those in the assembly, and the other layers the rest. With -record the
// tests that catch the faults in this run are written to catches.txt.
//
// A fault for which the interpreter of the assembly lacks an instruction is not
// caught: the table says "unknown instruction".
//
// With -times 3, a layer catches a fault if it does in three runs out of three.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/signal"
	"regexp"
	"strings"
	"syscall"
)

func main() {
	var r run
	names := flag.String("layers", "", "the layers to run, separated by commas: all, or some of "+strings.Join(layerNames(), ", "))
	only := flag.String("run", "", "plant only faults whose name matches this regular expression")
	flag.BoolVar(&r.first, "first", false, "try each fault only until a layer catches it")
	flag.BoolVar(&r.record, "record", false, "with -first: write to "+catchesFile+" which tests catch the faults")
	flag.IntVar(&r.times, "times", 1, "run each layer so often against each fault; it must catch the fault each time")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := r.all(ctx, *names, *only); err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
}

// all plants the faults that are called like only, under the named layers.
func (r *run) all(ctx context.Context, names, only string) (err error) {
	if r.layers, err = choose(names); err != nil {
		return err
	}
	pattern, err := regexp.Compile(only)
	if err != nil {
		return err
	}
	if r.catches, err = readCatches(); err != nil {
		return err
	}
	var planted []fault
	for _, f := range faults {
		switch {
		case !pattern.MatchString(f.name):
		case seenByAny(r.layers, f):
			planted = append(planted, f)
		default:
			fmt.Fprintf(os.Stderr, "mutants: no chosen layer sees %s: %q is not planted\n", f.file, f.name)
		}
	}
	if len(planted) == 0 {
		return fmt.Errorf("no fault that these layers see has a name like %q", only)
	}
	survivors, err := r.tabulate(ctx, planted)
	switch {
	case r.record:
		maps.Copy(r.catches, r.caught)
		err = errors.Join(err, writeCatches(r.catches))
	case len(r.caught) > 0:
		fmt.Printf("\n%d faults were not caught by their test in %s: -record writes those that catch them.\n", len(r.caught), catchesFile)
	}
	if err != nil {
		return err
	}
	if len(survivors) > 0 {
		return fmt.Errorf("survived: %s", strings.Join(survivors, "; "))
	}
	fmt.Printf("\n%d faults, none survived.\n", len(planted))
	return nil
}
