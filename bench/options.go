package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/poolswap/poolswap/bench/internal/gate"
	"github.com/poolswap/poolswap/bench/internal/measure"
)

// options are the flags of the command.
type options struct {
	full      bool
	list      bool
	suites    []string
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

// errUsage means that the flags are wrong; the user has been told why.
var errUsage = errors.New("wrong flags")

func parseOptions(arguments []string, all []measure.Suite, stderr io.Writer) (options, error) {
	var o options
	var suites string
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.BoolVar(&o.full, "full", false, "take more and longer samples, as for the figures in the documentation")
	flags.BoolVar(&o.list, "list", false, "list the suites and end")
	flags.StringVar(&suites, "suite", "", "run only these `suites`, separated by commas")
	flags.IntVar(&o.count, "count", 0, fmt.Sprintf("take that many `samples` of each rival in each case (default %d, with -full %d)", defaultCount, fullCount))
	flags.DurationVar(&o.benchtime, "benchtime", 0, "let the clock of each timed sample run for that long (default: each suite knows)")
	flags.StringVar(&o.output, "o", "out", "write the report and the results to this `folder`")
	flags.StringVar(&o.keep, "keep", "", "write the raw results, too, to a `folder` named after the processor below this one")
	flags.StringVar(&o.gate, "gate", "", "fail if a read has become slower than in the run that -keep wrote to this `folder`")
	if err := flags.Parse(arguments); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return o, err
		}
		return o, errUsage
	}
	wrong := func(format string, values ...any) (options, error) {
		_, _ = fmt.Fprintf(stderr, "bench: "+format+"\n", values...)
		return o, errUsage
	}
	given := func(name string) (found bool) {
		flags.Visit(func(f *flag.Flag) { found = found || f.Name == name })
		return found
	}
	switch {
	case flags.NArg() > 0:
		return wrong("%q is not a flag; -h lists the flags", flags.Arg(0))
	case given("count") && o.count < 1:
		return wrong("-count %d: at least 1 sample is needed", o.count)
	case given("benchtime") && o.benchtime <= 0:
		return wrong("-benchtime %v: the clock must run for some time", o.benchtime)
	case o.output == "":
		return wrong("-o needs the name of a folder")
	}
	if given("suite") {
		o.suites = strings.Split(suites, ",")
		for _, name := range o.suites {
			if !slices.ContainsFunc(all, func(s measure.Suite) bool { return s.Name == name }) {
				return wrong("there is no suite %q; there are %s", name, strings.Join(names(all), ", "))
			}
		}
	}
	if o.count == 0 {
		o.count = defaultCount
		if o.full {
			o.count = fullCount
		}
	}
	if o.gate != "" && o.count < gate.Least {
		return wrong("-gate needs -count %d or more: of fewer samples no loss is certain", gate.Least)
	}
	return o, nil
}

func names(suites []measure.Suite) []string {
	var names []string
	for _, s := range suites {
		names = append(names, s.Name)
	}
	return names
}

// chosen returns the suites that the flags ask for.
func (o *options) chosen(all []measure.Suite) []measure.Suite {
	if o.suites == nil {
		return slices.DeleteFunc(slices.Clone(all), func(s measure.Suite) bool { return s.OnRequest })
	}
	return slices.DeleteFunc(slices.Clone(all), func(s measure.Suite) bool { return !slices.Contains(o.suites, s.Name) })
}
