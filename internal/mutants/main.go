// Mutants plants small faults in the protocol, one at a time, in a scratch copy
// of the repository, and reports which layers of tests catch each.
//
//	go run ./internal/mutants [-layers unit,stress,...] [-first] [-times n] [-run regexp]
//
// It prints a table in Markdown. It fails if a fault survives all layers that
// ran, or survives the scheduler although the scheduler can see it. It also fails
// if the text of a fault is not in the source: the faults have to follow the code.
//
// With -first, each fault goes through the layers in the given order until one
// catches it. That is the fastest way to see that each fault is caught: with
// -layers scheduler-brief,stepped,unit,machine-code the scheduler catches most,
// stepped those in the assembly, and the other layers the rest.
//
// A fault for which the interpreter of the assembly lacks an instruction is not
// caught: the table says "unknown instruction".
//
// With -times 3, a layer catches a fault if it does in three runs out of three.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"regexp"
	"strings"
	"syscall"
	"time"
)

func main() {
	names := flag.String("layers", "", "the layers to run, separated by commas: all, or some of "+strings.Join(layerNames(), ", "))
	only := flag.String("run", "", "plant only faults whose name matches this regular expression")
	first := flag.Bool("first", false, "try each fault only until a layer catches it")
	times := flag.Int("times", 1, "run each layer so often against each fault; it must catch the fault each time")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *names, *only, *first, max(1, *times)); err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, names, only string, first bool, times int) error {
	chosen, err := choose(names)
	if err != nil {
		return err
	}
	wanted, err := regexp.Compile(only)
	if err != nil {
		return err
	}
	var planted []fault
	for _, f := range faults {
		switch {
		case !wanted.MatchString(f.name):
		case seenByAny(chosen, f):
			planted = append(planted, f)
		default:
			fmt.Fprintf(os.Stderr, "mutants: no chosen layer sees %s: %q is not planted\n", f.file, f.name)
		}
	}
	if len(planted) == 0 {
		return fmt.Errorf("no fault that these layers see has a name like %q", only)
	}
	s, err := newScratch()
	if err != nil {
		return err
	}
	defer s.remove()
	if err := s.setLimits(ctx, chosen); err != nil {
		return err
	}
	survivors, err := s.tabulate(ctx, chosen, planted, first, times)
	if err != nil {
		return err
	}
	if len(survivors) > 0 {
		return fmt.Errorf("survived: %s", strings.Join(survivors, "; "))
	}
	fmt.Printf("\n%d faults, none survived.\n", len(planted))
	return nil
}

// tabulate plants the faults and prints the table. It returns the faults that
// survived.
func (s *scratch) tabulate(ctx context.Context, chosen []layer, planted []fault, first bool, times int) (survivors []string, err error) {
	fmt.Print("| fault |")
	for _, l := range chosen {
		fmt.Printf(" %s |", l.name)
	}
	fmt.Printf(" seconds | bug of the model |\n|---|%s---|---|\n", strings.Repeat("---|", len(chosen)))
	for _, f := range planted {
		begun := time.Now()
		restore, err := s.plant(f)
		if err != nil {
			return nil, err
		}
		fmt.Printf("| %s |", f.name)
		var found findings
		for _, l := range chosen {
			if !l.sees(f) || first && found.caught {
				fmt.Print("  |")
				continue
			}
			v, err := eachTime(times, func() (verdict, error) { return s.try(ctx, l, l.dirsFor(f)) })
			if err != nil {
				return nil, fmt.Errorf("%s, layer %s: %w", f.name, l.name, err)
			}
			fmt.Printf(" %s |", v)
			found.add(l, v)
		}
		fmt.Printf(" %.0f | %s |\n", time.Since(begun).Seconds(), inModel[f.name])
		if name := found.survivor(f.name); name != "" {
			survivors = append(survivors, name)
		}
		if err := restore(); err != nil {
			return nil, err
		}
	}
	return survivors, nil
}

// findings is what the layers that tried a fault found.
type findings struct {
	caught bool // by a layer
	missed bool // by the scheduler, which can see the fault
}

func (f *findings) add(l layer, v verdict) {
	f.caught = f.caught || v.isCaught()
	if l.isScheduler() { // the brief one comes first
		f.missed = !v.isCaught()
	}
}

// survivor returns the name of the fault if it survived, with what it survived if
// that is the scheduler alone, and else nothing.
func (f *findings) survivor(name string) string {
	switch {
	case !f.caught:
		return name
	case f.missed:
		return name + " (scheduler)"
	}
	return ""
}
