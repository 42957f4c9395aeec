// Mutants plants small faults in the protocol, one at a time, in a scratch copy
// of the repository, and reports which layer of tests catches each and how
// soon.
//
//	go run ./internal/mutants [-layers unit,stress,...] [-first] [-run regexp] [-into docs/internals.md]
//
// It prints a table in Markdown, and with -into puts it in place of the one
// that is in that file. It ends with an error when a fault survives all layers
// that ran, or survives the scheduler. A fault whose text is no longer in the
// source is an error too: the table has to follow the code.
//
// With -first a fault goes from layer to layer, in the order in which they are
// named, until one catches it. That is the short way to see that each is
// caught: with -layers scheduler,stress,unit,machine-code most are tried under
// the scheduler alone, and those that no build with a tag has, as in the
// assembly, under what comes next.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"strings"
)

func main() {
	names := flag.String("layers", "", "the layers to run, separated by commas: all, or some of "+strings.Join(layerNames(), ", "))
	only := flag.String("run", "", "plant only faults whose name matches this")
	into := flag.String("into", "", "the file to put the table into")
	first := flag.Bool("first", false, "try a fault under one layer after the other only until one catches it")
	list := flag.Bool("list", false, "only see that every fault can be planted")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *names, *only, *into, *first, *list); err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, names, only, into string, first, list bool) error {
	chosen, err := choose(names)
	if err != nil {
		return err
	}
	if err := checkModelNames(); err != nil {
		return err
	}
	wanted, err := regexp.Compile(only)
	if err != nil {
		return err
	}
	b, err := newBench()
	if err != nil {
		return err
	}
	defer b.close()
	var planted []fault
	for _, f := range faults {
		seen, err := seenByAny(chosen, f)
		if err != nil {
			return err
		}
		if seen && wanted.MatchString(f.name) {
			planted = append(planted, f)
		}
	}
	if len(planted) == 0 {
		return fmt.Errorf("no fault that these layers see is named like %q", only)
	}
	if list {
		return b.list(planted)
	}
	if err := b.measure(ctx, chosen); err != nil {
		return err
	}
	var table strings.Builder
	survivors, err := b.tabulate(ctx, chosen, planted, first, io.MultiWriter(os.Stdout, &table))
	if err != nil {
		return err
	}
	if into != "" {
		if err := replaceTable(into, table.String()); err != nil {
			return err
		}
	}
	if len(survivors) > 0 {
		return fmt.Errorf("survived: %s", strings.Join(survivors, "; "))
	}
	fmt.Printf("\n%d faults, none survived.\n", len(planted))
	return nil
}

// tabulate plants the faults and writes the table. It returns the faults that
// survived.
func (b *bench) tabulate(ctx context.Context, chosen []layer, planted []fault, first bool, to io.Writer) (survivors []string, err error) {
	fmt.Fprint(to, "| fault |")
	for _, l := range chosen {
		fmt.Fprintf(to, " %s |", l.name)
	}
	fmt.Fprintf(to, " bug of the model |\n|---|%s---|\n", strings.Repeat("---|", len(chosen)))
	for _, f := range planted {
		restore, err := f.plant(b.dir)
		if err != nil {
			return nil, err
		}
		b.forget()
		fmt.Fprintf(to, "| %s |", f.name)
		caught := false
		for _, l := range chosen {
			seen, err := l.sees(f)
			if err != nil {
				return nil, err
			}
			if !seen || first && caught {
				fmt.Fprint(to, "  |")
				continue
			}
			verdict, failed, err := b.try(ctx, l)
			if err != nil {
				return nil, fmt.Errorf("%s, layer %s: %w", f.name, l.name, err)
			}
			fmt.Fprintf(to, " %s |", verdict)
			caught = caught || failed
			if l.name == "scheduler" && !failed {
				survivors = append(survivors, f.name+" (scheduler)")
			}
		}
		fmt.Fprintf(to, " %s |\n", inModel[f.name])
		if !caught {
			survivors = append(survivors, f.name)
		}
		if err := restore(); err != nil {
			return nil, err
		}
	}
	return survivors, nil
}

// replaceTable puts the table between the marks in the file.
func replaceTable(path, table string) error {
	const begin, end = "<!-- mutants -->\n", "<!-- end of mutants -->\n"
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	before, rest, found := strings.Cut(string(text), begin)
	_, after, ended := strings.Cut(rest, end)
	if !found || !ended {
		return fmt.Errorf("%s has no place for the table, between %q and %q", path, begin, end)
	}
	return os.WriteFile(path, []byte(before+begin+table+end+after), 0o644)
}
