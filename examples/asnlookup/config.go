package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"
	"time"
)

// config is what the flags say.
type config struct {
	paths    files
	addr     string
	watch    time.Duration
	overlaps int
	load     time.Duration
}

// parseFlags reads the command line. On an error it has told the user on out;
// the error is flag.ErrHelp if that is all the user wanted.
func parseFlags(args []string, out io.Writer) (config, error) {
	var c config
	set := flag.NewFlagSet("asnlookup", flag.ContinueOnError)
	set.SetOutput(out)
	set.Func("table", "CSV `file` of ranges: first address, last address, AS number, name;\n"+
		"give it again, or separate with commas, to make one table of several files\n"+
		"(default a synthetic table)", func(value string) error {
		for path := range strings.SplitSeq(value, ",") {
			if path == "" {
				return errors.New("a file name is empty")
			}
			c.paths = append(c.paths, path)
		}
		return nil
	})
	set.StringVar(&c.addr, "addr", "127.0.0.1:8080", "serve HTTP at this `address`")
	set.DurationVar(&c.watch, "watch", 5*time.Second, "look for changed files at this `interval`; 0: only on SIGHUP")
	set.IntVar(&c.overlaps, "overlaps", 100_000, "tolerate one overlapping range in this `many`, and refuse a table with more;\n0: tolerate none")
	set.DurationVar(&c.load, "load", 0, "do not serve: measure lookups under continuous reloading for this `duration`")
	if err := set.Parse(args); err != nil {
		return config{}, err // told by the flag package
	}
	if err := c.check(set.Args()); err != nil {
		fmt.Fprintln(out, err)
		set.Usage()
		return config{}, err
	}
	return c, nil
}

func (c *config) check(rest []string) error {
	switch {
	case len(rest) > 0:
		return fmt.Errorf("unexpected argument %q: every option is a flag", rest[0])
	case c.watch < 0:
		return fmt.Errorf("invalid value %v for flag -watch: it is negative", c.watch)
	case c.overlaps < 0:
		return fmt.Errorf("invalid value %d for flag -overlaps: it is negative", c.overlaps)
	case c.load < 0:
		return fmt.Errorf("invalid value %v for flag -load: it is negative", c.load)
	}
	return nil
}

// source returns where the tables come from.
func (c *config) source() source {
	if len(c.paths) == 0 {
		return newSynthetic()
	}
	return c.paths
}
