package session_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/poolswap/poolswap/bench/internal/measure"
	"github.com/poolswap/poolswap/bench/internal/results"
	"github.com/poolswap/poolswap/bench/internal/session"
)

// fake is a suite whose samples describe the child.
var fake = measure.Suite{Name: "fake", Cases: []measure.Case{
	{Name: "limit=none", Rivals: rivals("A", "B", "C")},
	{Name: "limit=64MiB", MemoryLimit: "64MiB", Rivals: rivals("A", "B", "C")},
}}

var taken float64

func rivals(names ...string) []measure.Rival {
	var all []measure.Rival
	for _, name := range names {
		all = append(all, measure.Rival{Name: name, Sample: func(measure.Config) (measure.Sample, error) {
			taken++
			return measure.Sample{Iterations: 1, Values: map[string]float64{
				"order": taken, "pid": float64(os.Getpid()), "limit": float64(debug.SetMemoryLimit(-1)),
			}}, nil
		}})
	}
	return all
}

// broken is a suite in which the second rival fails.
func broken(how string) measure.Suite {
	all := rivals("good", "bad")
	all[1].Sample = func(measure.Config) (measure.Sample, error) {
		switch how {
		case "error":
			return measure.Sample{}, errors.New("no data")
		case "exit":
			os.Exit(7)
		}
		panic("planted")
	}
	return measure.Suite{Name: how, Cases: []measure.Case{{Name: "a=b", Rivals: all}}}
}

var known = []measure.Suite{fake, broken("error"), broken("exit"), broken("panic")}

// silent is a Progress that shows nothing.
type silent struct{}

func (silent) Next(*measure.Suite, *measure.Case, *measure.Rival, int) {}
func (silent) Hide()                                                   {}
func (silent) Done()                                                   {}

func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == session.ChildArgument {
		if err := session.Serve(known, os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

func TestRivalsTakeTurnsInOneProcessForEachLimit(t *testing.T) {
	s := session.Session{Suites: []measure.Suite{fake}, Count: 3, Progress: silent{}, Stderr: os.Stderr}
	run := new(results.Run)
	if err := s.Run(context.Background(), run); err != nil {
		t.Fatal(err)
	}
	pids := make(map[float64]string)
	for _, c := range fake.Cases {
		for i, name := range []string{"A", "B", "C"} {
			values := run.Find("fake", c.Name, name).Values
			first := float64(i + 1)
			if want := []float64{first, first + 3, first + 6}; !slices.Equal(values["order"], want) {
				t.Errorf("%s: %s came as %v, want %v", c.Name, name, values["order"], want)
			}
			for _, pid := range values["pid"] {
				if pid == float64(os.Getpid()) || pids[pid] != "" && pids[pid] != c.Name {
					t.Errorf("%s was measured in the process of %q", c.Name, pids[pid])
				}
				pids[pid] = c.Name
			}
			if limited := values["limit"][0] == 64<<20; limited != (c.MemoryLimit != "") {
				t.Errorf("%s: the memory limit of the child is %v", c.Name, values["limit"][0])
			}
		}
	}
	if len(pids) != 2 {
		t.Errorf("%d processes for two limits", len(pids))
	}
}

func TestEachSampleHasAProcessWhereTheCaseAsksForIt(t *testing.T) {
	none, limited := fake.Cases[0], fake.Cases[1]
	noneAlone, limitedAlone := none, limited
	noneAlone.OwnProcess, limitedAlone.OwnProcess = true, true
	suite := measure.Suite{Name: "fake", Cases: []measure.Case{none, limitedAlone, limited, noneAlone}}
	s := session.Session{Suites: []measure.Suite{suite}, Count: 2, Progress: silent{}, Stderr: os.Stderr}
	run := new(results.Run)
	if err := s.Run(context.Background(), run); err != nil {
		t.Fatal(err)
	}
	pids := make(map[float64]int)
	for _, series := range run.Series {
		for i, pid := range series.Values["pid"] {
			pids[pid]++
			if got := series.Values["limit"][i] == 64<<20; got != (series.Case == limited.Name) {
				t.Errorf("%s: the memory limit of the child is %v", series.Case, series.Values["limit"][i])
			}
		}
	}
	alone, shared := 0, 0
	for _, samples := range pids {
		switch samples {
		case 1:
			alone++
		case 6:
			shared++
		}
	}
	if alone != 12 || shared != 2 {
		t.Errorf("%d samples had a process of their own, want 12; %d processes took six, want 2", alone, shared)
	}
}

func TestLongCasesHaveFewRounds(t *testing.T) {
	suite := measure.Suite{Name: "fake", Cases: slices.Clone(fake.Cases)}
	suite.Cases[0].MostRounds, suite.Cases[0].Setup, suite.Cases[0].Untimed = 2, time.Second, true
	suite.Cases[1].MostRounds, suite.Cases[1].Untimed = 5, true
	s := session.Session{Suites: []measure.Suite{suite}, Count: 3, Progress: silent{}, Stderr: os.Stderr}
	if got, want := s.Estimate(), 2*3*time.Second; got != want {
		t.Errorf("it takes about %v, want %v", got, want)
	}
	run := new(results.Run)
	if err := s.Run(context.Background(), run); err != nil {
		t.Fatal(err)
	}
	for i, want := range []int{2, 3} {
		if got := len(run.Find("fake", suite.Cases[i].Name, "A").Iterations); got != want {
			t.Errorf("%s: %d samples, want %d", suite.Cases[i].Name, got, want)
		}
	}
}

func TestFailureKeepsWhatWasMeasured(t *testing.T) {
	for how, says := range map[string]string{"error": "no data", "exit": "exit status 7", "panic": "exit status 2"} {
		t.Run(how, func(t *testing.T) {
			var stderr strings.Builder
			s := session.Session{Suites: []measure.Suite{broken(how)}, Count: 2, Progress: silent{}, Stderr: &stderr}
			run := new(results.Run)
			err := s.Run(context.Background(), run)
			if err == nil || !strings.Contains(err.Error(), says) || !strings.Contains(err.Error(), "suite "+how+", case a=b, bad") {
				t.Errorf("the error is %v, want %q and who it was", err, says)
			}
			if len(run.Find(how, "a=b", "good").Iterations) != 1 {
				t.Error("the sample before is gone")
			}
			if how == "panic" && !strings.Contains(stderr.String(), "planted") {
				t.Errorf("what the child said is gone: %q", &stderr)
			}
		})
	}
}

func TestEndOfContextIsTheError(t *testing.T) {
	ctx, cancel := context.WithCancelCause(context.Background())
	reason := errors.New("enough")
	cancel(reason)
	s := session.Session{Suites: []measure.Suite{fake}, Count: 1, Progress: silent{}, Stderr: os.Stderr}
	if err := s.Run(ctx, new(results.Run)); !errors.Is(err, reason) {
		t.Errorf("the error is %v", err)
	}
}

// drawings counts what a bar writes, and when.
type drawings struct{ strings.Builder }

func TestBarIsDrawnBetweenSamplesOnly(t *testing.T) {
	var terminal drawings
	s := &session.Session{Suites: []measure.Suite{fake}, Count: 2, Stderr: os.Stderr}
	bar := session.NewBar(s, &terminal)
	watched := &watch{Progress: bar, terminal: &terminal}
	s.Progress = watched
	if err := s.Run(context.Background(), new(results.Run)); err != nil {
		t.Fatal(err)
	}
	if watched.samples != 12 {
		t.Errorf("told of %d samples, want 12", watched.samples)
	}
	if watched.drawnDuring > 0 {
		t.Errorf("%d bytes were written while a sample ran", watched.drawnDuring)
	}
	if !strings.Contains(terminal.String(), "fake limit=64MiB B 2/2") {
		t.Errorf("the bar does not say what runs: %q", terminal.String())
	}
}

func TestALogGetsALineForEachCase(t *testing.T) {
	timed := fake
	timed.Time = 4 * time.Second // each of 3 rivals takes 2 samples of 5 s in each of 2 cases
	s := &session.Session{Suites: []measure.Suite{timed}, Count: 2}
	var log strings.Builder
	lines := session.NewLines(s, &log)
	for i := range timed.Cases {
		c := &timed.Cases[i]
		for round := range s.Count {
			for j := range c.Rivals {
				lines.Next(&timed, c, &c.Rivals[j], round)
			}
		}
	}
	const want = "bench: fake limit=none, about 1m0s left\nbench: fake limit=64MiB, about 30s left\n"
	if log.String() != want {
		t.Errorf("the log says %q, want %q", &log, want)
	}
}

// watch sees whether anything was written between two calls of Next.
type watch struct {
	session.Progress
	terminal             *drawings
	after                int
	samples, drawnDuring int
}

func (w *watch) Next(s *measure.Suite, c *measure.Case, r *measure.Rival, round int) {
	if w.samples > 0 {
		w.drawnDuring += w.terminal.Len() - w.after
	}
	w.samples++
	w.Progress.Next(s, c, r, round)
	w.after = w.terminal.Len()
}

// TestChildEndsWithItsParent: a child whose input ends does not stay.
func TestChildEndsWithItsParent(t *testing.T) {
	child := exec.Command(os.Args[0], session.ChildArgument)
	in, err := child.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	if err := in.Close(); err != nil {
		t.Fatal(err)
	}
	if err := child.Wait(); err != nil {
		t.Errorf("%s: %v", filepath.Base(os.Args[0]), err)
	}
}
