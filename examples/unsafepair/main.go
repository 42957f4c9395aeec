// Command unsafepair shows why a sync.Pool and an atomic.Pointer are not enough
// to recycle an object that others read: it replaces a table under readers and
// counts the reads in which the table changed.
//
//	go run ./examples/unsafepair
//	go run -race ./examples/unsafepair -way pair      # the race detector reports it
//	go run -race ./examples/unsafepair -way poolswap  # and has nothing to report
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
)

func main() {
	switch err := run(os.Args[1:], os.Stdout, os.Stderr); {
	case errors.Is(err, flag.ErrHelp):
	case err != nil:
		fmt.Fprintln(os.Stderr, "unsafepair:", err)
		os.Exit(1)
	}
}

func run(arguments []string, stdout, stderr io.Writer) error {
	flags := flag.NewFlagSet("unsafepair", flag.ContinueOnError)
	flags.SetOutput(stderr)
	updates := flags.Int("updates", 5_000, "replace the table this many `times`")
	readers := flags.Int("readers", 4, "read it in this many `goroutines`")
	way := flags.String("way", "both", "pair, poolswap or both")
	if err := flags.Parse(arguments); err != nil {
		return err
	}
	switch {
	case flags.NArg() > 0:
		return fmt.Errorf("unexpected argument %q; -h lists the flags", flags.Arg(0))
	case *updates < 1 || *readers < 1:
		return fmt.Errorf("-updates %d -readers %d: both must be at least 1", *updates, *readers)
	case *way != "pair" && *way != "poolswap" && *way != "both":
		return fmt.Errorf("-way %q: there are pair, poolswap and both", *way)
	}
	if *way != "poolswap" {
		report(stdout, "sync.Pool + atomic.Pointer", stress(new(pair), *updates, *readers))
	}
	if *way != "pair" {
		total := stress(newSafe(), *updates, *readers)
		report(stdout, "poolswap", total)
		if total.corrupted > 0 {
			return errors.New("poolswap handed out a table that somebody was writing")
		}
	}
	return nil
}

// counts are the reads, and those that saw corruption.
type counts struct{ reads, corrupted int64 }

func report(w io.Writer, way string, c counts) {
	fmt.Fprintf(w, "%-26s  %d of %d reads corrupted\n", way, c.corrupted, c.reads)
}

// table is the shared object. A writer gives all its rows the same number.
type table struct{ rows [256]int }

func (t *table) fill(number int) {
	for i := range t.rows {
		t.rows[i] = number
	}
}

// whole reads the table row by row and lets others run now and then, like a
// reader that does something with each row. It reports whether all rows are of
// one version.
func (t *table) whole() bool {
	first := t.rows[0]
	for i := range t.rows { // not a copy of them
		if i%64 == 63 {
			runtime.Gosched()
		}
		if t.rows[i] != first {
			return false
		}
	}
	return true
}

// shared is a table that one goroutine replaces and others read.
type shared interface {
	update(number int)
	read() (whole bool)
}

// stress replaces the table under readers.
func stress(s shared, updates, readers int) counts {
	s.update(0)
	var total struct{ reads, corrupted atomic.Int64 }
	var started, done sync.WaitGroup
	var stop atomic.Bool
	for range readers {
		started.Add(1)
		done.Go(func() {
			started.Done()
			for !stop.Load() {
				total.reads.Add(1)
				if !s.read() {
					total.corrupted.Add(1)
				}
			}
		})
	}
	started.Wait()
	for number := range updates {
		s.update(number + 1)
		runtime.Gosched() // let readers run on one processor too
	}
	stop.Store(true)
	done.Wait()
	return counts{total.reads.Load(), total.corrupted.Load()}
}
