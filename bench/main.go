// Command bench measures what each way of sharing a heavy object costs on this
// machine: as tables on the standard output, and as a report with charts and
// the raw results in a folder.
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
	"strings"
	"syscall"
	"time"

	"golang.org/x/term"

	"github.com/poolswap/poolswap/bench/internal/gate"
	"github.com/poolswap/poolswap/bench/internal/measure"
	"github.com/poolswap/poolswap/bench/internal/report"
	"github.com/poolswap/poolswap/bench/internal/results"
	"github.com/poolswap/poolswap/bench/internal/session"
	"github.com/poolswap/poolswap/bench/internal/suites"
)

func main() {
	if len(os.Args) == 2 && os.Args[1] == session.ChildArgument {
		if err := session.Serve(suites.All(), os.Stdin, os.Stdout); err != nil {
			_, _ = fmt.Fprintln(os.Stderr, "bench:", err)
			os.Exit(1)
		}
		return
	}
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

// errInterrupted is the cause of a run that Ctrl-C, or SIGTERM, ended.
var errInterrupted = errors.New("interrupted")

// run is the command; it returns the exit status: 2 for wrong flags, 1 for a
// run that did not come to its end, or that -gate does not let pass.
func run(arguments []string, stdout io.Writer, stderr *os.File) int {
	all := suites.All()
	o, err := parseOptions(arguments, all, stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return 2
	case o.list:
		list(stdout, all)
		return 0
	}
	if err := results.Writable(o.output); err != nil {
		_, _ = fmt.Fprintf(stderr, "bench: the results cannot be written: %v\n", err)
		return 1
	}

	others := results.WatchOthers()
	remove, err := privateTemp()
	if err != nil {
		_, _ = fmt.Fprintf(stderr, "bench: %v\n", err)
		return 1
	}
	defer remove()
	measured, err := take(o, o.chosen(all), stdout, stderr)
	measured.Partial, measured.Others = err != nil, others()
	written, writeErr := report.Write(o.output, all, measured)
	switch {
	case writeErr != nil:
		_, _ = fmt.Fprintf(stderr, "bench: the results cannot be written: %v\n", errors.Join(writeErr, err))
		return 1
	case err != nil:
		_, _ = fmt.Fprintf(stderr, "bench: %v; what was measured until then is in %s\n", err, absolute(o.output))
		return 1
	}
	if o.keep != "" {
		folder := filepath.Join(o.keep, measured.Machine.Slug())
		if err := report.Keep(folder, measured); err != nil {
			_, _ = fmt.Fprintf(stderr, "bench: the results cannot be kept: %v\n", err)
			return 1
		}
		_, _ = fmt.Fprintf(stdout, "\nkept in %s\n", absolute(folder))
	}
	_, _ = fmt.Fprintf(stdout, "\n%sreport: %s\n", report.Others(measured), absolute(written))
	if o.gate != "" {
		again := func() (*results.Run, error) { return take(o, o.chosen(all), io.Discard, stderr) }
		if err := gate.Check(stdout, o.gate, measured, again); err != nil {
			_, _ = fmt.Fprintf(stderr, "bench: %v\n", err)
			return 1
		}
	}
	return 0
}

// privateTemp gives this process and its children a folder for temporary files. It
// is removed at the end, with what an interrupted child has left in it.
func privateTemp() (remove func(), err error) {
	dir, err := os.MkdirTemp("", "bench-")
	if err != nil {
		return nil, err
	}
	return func() { _ = os.RemoveAll(dir) }, os.Setenv("TMPDIR", dir)
}

// take runs the session, until its end or an interrupt.
func take(o options, chosen []measure.Suite, stdout io.Writer, stderr *os.File) (*results.Run, error) {
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

	measured := &results.Run{
		Machine: results.ThisMachine(),
		Started: time.Now().UTC().Format(time.RFC3339),
		Command: commandLine(o),
	}
	s := &session.Session{
		Suites: chosen, Count: o.count, Time: o.benchtime, Full: o.full,
		Stderr: stderr,
	}
	if term.IsTerminal(int(stderr.Fd())) {
		s.Progress = session.NewBar(s, stderr)
	} else {
		s.Progress = session.NewLines(s, stderr)
	}
	m := measured.Machine
	_, _ = fmt.Fprintf(stdout, "%s, %d cores, %s/%s, %s, poolswap counts the %s way\n", m.Name(), m.Cores, m.OS, m.Arch, m.Go, m.Counting)
	_, _ = fmt.Fprintf(stdout, "samples of each: %d; about %v in all\n", o.count, s.Estimate().Round(time.Second))
	s.Finished = func(suite *measure.Suite) { _ = report.NewTable(suite, measured).WriteText(stdout) }
	return measured, s.Run(ctx, measured)
}

// commandLine returns the command with the flags, and the setting of the
// environment, that decide what is measured.
func commandLine(o options) string {
	flags := []string{"go run -C bench ."}
	if procs := os.Getenv("GOMAXPROCS"); procs != "" {
		flags[0] = "GOMAXPROCS=" + procs + " " + flags[0]
	}
	if o.full {
		flags = append(flags, "-full")
	}
	if o.suites != nil {
		flags = append(flags, "-suite "+strings.Join(o.suites, ","))
	}
	if o.count != defaultCount && !(o.full && o.count == fullCount) {
		flags = append(flags, fmt.Sprintf("-count %d", o.count))
	}
	if o.benchtime != 0 {
		flags = append(flags, fmt.Sprintf("-benchtime %v", o.benchtime))
	}
	return strings.Join(flags, " ")
}

func list(w io.Writer, all []measure.Suite) {
	for i := range all {
		s := &all[i]
		each := session.Session{Suites: all[i : i+1], Count: defaultCount}
		full := session.Session{Suites: all[i : i+1], Count: fullCount, Full: true}
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
