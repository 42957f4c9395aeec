// Command pooling shows the allocations that a pool of short-lived objects saves: it does each
// piece of work many times without a pool, with a sync.Pool and with typedpool,
// and prints the figures of runtime.MemStats for each.
//
//	go run ./examples/pooling
//	go run ./examples/pooling -work data -way "no pool" -memprofile /tmp/data.prof
//	go tool pprof -top -sample_index=alloc_space /tmp/data.prof
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/pprof"
	"strings"
	"text/tabwriter"
)

func main() {
	switch err := run(os.Args[1:], os.Stdout, os.Stderr); {
	case errors.Is(err, flag.ErrHelp):
	case err != nil:
		fmt.Fprintln(os.Stderr, "pooling:", err)
		os.Exit(1)
	}
}

func run(arguments []string, stdout, stderr io.Writer) error {
	flags := flag.NewFlagSet("pooling", flag.ContinueOnError)
	flags.SetOutput(stderr)
	n := flags.Int("n", 1_000_000, "do each piece of work this many `times`")
	onlyWork := flags.String("work", "", "do only this `work`: "+strings.Join(workNames(), ", "))
	onlyWay := flags.String("way", "", "do it only this `way`: "+strings.Join(wayNames, ", "))
	profile := flags.String("memprofile", "", "write a heap profile to this `file` at the end")
	if err := flags.Parse(arguments); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q; -h lists the flags", flags.Arg(0))
	}
	if *n < 1 {
		return fmt.Errorf("-n %d: at least 1 iteration is needed", *n)
	}
	results, err := measureAll(*n, *onlyWork, *onlyWay)
	if err != nil {
		return err
	}
	if err := writeTable(stdout, *n, results); err != nil {
		return err
	}
	if *profile != "" {
		return writeProfile(*profile)
	}
	return nil
}

// result is the cost of one piece of work done in one way.
type result struct {
	work, way                    string
	mallocs, bytes, bytesPerIter uint64
	collections                  uint32
}

func measureAll(n int, onlyWork, onlyWay string) ([]result, error) {
	var results []result
	for _, w := range works {
		for i, way := range wayNames {
			if (onlyWork == "" || onlyWork == w.name) && (onlyWay == "" || onlyWay == way) {
				results = append(results, measure(w.name, way, n, w.ways[i]))
			}
		}
	}
	if len(results) == 0 {
		return nil, fmt.Errorf("no work %q done %q; there are the works %s and the ways %s",
			onlyWork, onlyWay, strings.Join(workNames(), ", "), strings.Join(wayNames, ", "))
	}
	return results, nil
}

func measure(work, way string, n int, do func(n int)) result {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	do(n)
	runtime.ReadMemStats(&after)
	bytes := after.TotalAlloc - before.TotalAlloc
	return result{
		work: work, way: way,
		mallocs:      after.Mallocs - before.Mallocs,
		bytes:        bytes,
		bytesPerIter: bytes / uint64(n),
		collections:  after.NumGC - before.NumGC,
	}
}

func writeTable(w io.Writer, n int, results []result) error {
	fmt.Fprintf(w, "%d iterations of each\n\n", n)
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "work\tway\tMallocs\tTotalAlloc\tbytes per iteration\tNumGC\t")
	for _, r := range results {
		fmt.Fprintf(table, "%s\t%s\t%d\t%d\t%d\t%d\t\n", r.work, r.way, r.mallocs, r.bytes, r.bytesPerIter, r.collections)
	}
	return table.Flush()
}

func writeProfile(path string) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	runtime.GC() // the memory in use is that of the last collection
	if err := pprof.Lookup("heap").WriteTo(f, 0); err != nil {
		return err
	}
	return f.Close()
}
