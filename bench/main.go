// Command bench measures what each way of sharing a heavy object costs on this
// machine: as tables on the standard output, and as a page with charts and the
// raw results in a folder.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"golang.org/x/term"

	"github.com/poolswap/poolswap/bench/internal/gate"
	"github.com/poolswap/poolswap/bench/internal/report"
	"github.com/poolswap/poolswap/bench/internal/runner"
	"github.com/poolswap/poolswap/bench/internal/suites"
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == runner.ChildArgument {
		if err := runner.Serve(suites.All(), os.Args[1:], os.Stdout); err != nil {
			_, _ = fmt.Fprintln(os.Stderr, "bench:", err)
			os.Exit(1)
		}
		return
	}
	os.Exit(command(os.Args[1:], os.Stdout, os.Stderr))
}

// errInterrupted is the cause of a run that Ctrl-C, or SIGTERM, ended.
var errInterrupted = errors.New("interrupted")

// command returns the exit status: 2 for wrong flags, 1 for a run that did not
// come to its end, or that -gate does not let pass.
func command(arguments []string, stdout io.Writer, stderr *os.File) int {
	o, err := parseOptions(arguments, suites.All(), stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		_, _ = fmt.Fprintf(stderr, "bench: %v\n", err)
		return 2
	case o.list:
		list(stdout)
		return 0
	}
	if err := measure(o, stdout, stderr); err != nil {
		_, _ = fmt.Fprintf(stderr, "bench: %v\n", err)
		return 1
	}
	return 0
}

// probe is a file that shows whether results can be written.
const probe = ".writable"

// measure takes a run, and writes, keeps and gates it as the flags say.
func measure(o options, stdout io.Writer, stderr *os.File) error {
	// Better seen before a long run than after it.
	if err := errors.Join(runner.WriteFile(o.output, probe, nil), os.Remove(filepath.Join(o.output, probe))); err != nil {
		return fmt.Errorf("the results cannot be written: %w", err)
	}
	// This process and its children have a folder for temporary files. It is removed
	// at the end, with those that an interrupted child has left in it.
	temporary, err := os.MkdirTemp("", "bench-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(temporary) }()
	if err := os.Setenv("TMPDIR", temporary); err != nil {
		return err
	}
	others := runner.WatchOthers()
	run, broke := take(o, stdout, stderr)
	run.Partial, run.Others = broke != nil, others()
	page, err := report.Write(o.output, suites.All(), run)
	switch {
	case err != nil:
		return fmt.Errorf("the results cannot be written: %w", errors.Join(err, broke))
	case broke != nil:
		return fmt.Errorf("%w; the samples until then are in %s", broke, absolute(o.output))
	}
	if o.keep != "" {
		folder := filepath.Join(o.keep, run.Machine.Slug())
		if err := run.Keep(folder); err != nil {
			return fmt.Errorf("the results cannot be kept: %w", err)
		}
		_, _ = fmt.Fprintf(stdout, "\nkept in %s\n", absolute(folder))
	}
	_, _ = fmt.Fprintf(stdout, "\n%sreport: %s\n", report.Others(run), absolute(page))
	if o.gate == "" {
		return nil
	}
	return gate.Check(stdout, o.gate, run, func() (*runner.Run, error) { return take(o, io.Discard, stderr) })
}

// take runs a session, until its end or an interrupt.
func take(o options, stdout io.Writer, stderr *os.File) (*runner.Run, error) {
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(interrupts)
	go func() {
		<-interrupts
		signal.Stop(interrupts) // a second one ends the process at once
		cancel(errInterrupted)
	}()

	run := &runner.Run{Machine: runner.ThisMachine(), Started: time.Now().UTC().Format(time.RFC3339), Command: o.commandLine()}
	s := &runner.Session{
		Suites: o.suites, Count: o.count, Time: o.benchtime, Full: o.full,
		Stderr: stderr, Terminal: term.IsTerminal(int(stderr.Fd())),
		Finished: func(suite *runner.Suite) { _ = report.NewTable(suite, run).WriteText(stdout) },
	}
	m := &run.Machine
	_, _ = fmt.Fprintf(stdout, "%s, %d cores, %s/%s, %s, poolswap counts the %s way\n", m.Name(), m.Cores, m.OS, m.Arch, m.Go, m.Counting)
	_, _ = fmt.Fprintf(stdout, "samples of each: %d; about %v in all\n", o.count, s.Estimate().Round(time.Second))
	return run, s.Run(ctx, run)
}

func list(w io.Writer) {
	for _, s := range suites.All() {
		only := []runner.Suite{s}
		each := runner.Session{Suites: only, Count: defaultCount}
		full := runner.Session{Suites: only, Count: fullCount, Full: true}
		request := ""
		if s.OnRequest {
			request = "; runs only if -suite names it"
		}
		_, _ = fmt.Fprintf(w, "%-11s %s\n%-11s %d cases, about %v, with -full %v%s\n", s.Name, s.Title, "",
			len(s.Cases), each.Estimate().Round(time.Second), full.Estimate().Round(time.Second), request)
	}
}

func absolute(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return path
}
