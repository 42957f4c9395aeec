package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/poolswap/poolswap/bench/internal/gate"
	"github.com/poolswap/poolswap/bench/internal/runner"
)

// options are the flags of the command.
type options struct {
	full      bool
	list      bool
	names     string // of suites, as -suite gives them
	suites    []runner.Suite
	count     int
	benchtime time.Duration
	output    string
	keep      string
	gate      string
}

const (
	defaultCount = 6 // the least that a median has a 95 % interval for
	fullCount    = 10
)

func parseOptions(arguments []string, all []runner.Suite, stderr io.Writer) (o options, err error) {
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.SetOutput(io.Discard) // the caller shows the error
	flags.BoolVar(&o.full, "full", false, "take more and longer samples, as for the figures in the documentation")
	flags.BoolVar(&o.list, "list", false, "list the suites and end")
	flags.StringVar(&o.names, "suite", "", "run only these `suites`, separated by commas")
	flags.IntVar(&o.count, "count", 0, fmt.Sprintf("take that many `samples` of each rival in each case (default %d, with -full %d)", defaultCount, fullCount))
	flags.DurationVar(&o.benchtime, "benchtime", 0, "let the clock of each timed sample run for that long (default: each suite knows)")
	flags.StringVar(&o.output, "o", "out", "write the report and the results to this `folder`")
	flags.StringVar(&o.keep, "keep", "", "write the raw results, too, to a `folder` named after the processor below this one")
	flags.StringVar(&o.gate, "gate", "", "fail if a read has become slower than in the run that -keep wrote to this `folder`")
	if err := flags.Parse(arguments); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			flags.SetOutput(stderr)
			flags.PrintDefaults()
		}
		return o, err
	}
	given := make(map[string]bool)
	flags.Visit(func(f *flag.Flag) { given[f.Name] = true })
	switch {
	case flags.NArg() > 0:
		return o, fmt.Errorf("%q is not a flag; -h lists the flags", flags.Arg(0))
	case given["count"] && o.count < 1:
		return o, fmt.Errorf("-count %d: at least 1 sample is needed", o.count)
	case given["benchtime"] && o.benchtime <= 0:
		return o, fmt.Errorf("-benchtime %v: the clock must run for some time", o.benchtime)
	case o.output == "":
		return o, errors.New("-o needs the name of a folder")
	}
	if o.count == 0 {
		o.count = defaultCount
		if o.full {
			o.count = fullCount
		}
	}
	if o.gate != "" && o.count < gate.Least {
		return o, fmt.Errorf("-gate needs -count %d or more: of fewer samples no loss is certain", gate.Least)
	}
	return o, o.choose(all, given["suite"])
}

// choose chooses the suites that the flags ask for.
func (o *options) choose(all []runner.Suite, named bool) error {
	wanted := make(map[string]bool)
	for _, name := range strings.Split(o.names, ",") {
		wanted[name] = true
	}
	var names []string
	for _, s := range all {
		names = append(names, s.Name)
		if wanted[s.Name] || !named && !s.OnRequest {
			o.suites = append(o.suites, s)
		}
		delete(wanted, s.Name)
	}
	for name := range wanted {
		if named {
			return fmt.Errorf("there is no suite %q; there are %s", name, strings.Join(names, ", "))
		}
	}
	return nil
}

// commandLine returns the command with the flags, and the setting of the
// environment, on which the measurements depend.
func (o *options) commandLine() string {
	flags := []string{"go run -C bench ."}
	if procs := os.Getenv("GOMAXPROCS"); procs != "" {
		flags[0] = "GOMAXPROCS=" + procs + " " + flags[0]
	}
	if o.full {
		flags = append(flags, "-full")
	}
	if o.names != "" {
		flags = append(flags, "-suite "+o.names)
	}
	if o.count != defaultCount && !(o.full && o.count == fullCount) {
		flags = append(flags, fmt.Sprintf("-count %d", o.count))
	}
	if o.benchtime != 0 {
		flags = append(flags, fmt.Sprintf("-benchtime %v", o.benchtime))
	}
	return strings.Join(flags, " ")
}
