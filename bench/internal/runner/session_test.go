package runner_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/poolswap/poolswap/bench/internal/runner"
)

// fake is a suite whose samples describe the child.
var fake = runner.Suite{Name: "fake", Cases: []runner.Case{
	{Name: "limit=none", Rivals: rivals("A", "B", "C")},
	{Name: "limit=64MiB", MemoryLimit: "64MiB", Rivals: rivals("A", "B", "C")},
}}

func rivals(names ...string) (all []runner.Rival) {
	for _, name := range names {
		all = append(all, runner.Rival{Name: name, Sample: func(config runner.Config) (runner.Sample, error) {
			begin := time.Now()
			time.Sleep(config.Time)
			return runner.Sample{Iterations: 1, Values: map[string]float64{
				"pid": float64(os.Getpid()), "limit": float64(debug.SetMemoryLimit(-1)),
				"begin": float64(begin.UnixMicro()), "end": float64(time.Now().UnixMicro()),
			}}, nil
		}})
	}
	return all
}

// broken is a suite in which the second rival fails.
func broken(how string) runner.Suite {
	all := rivals("good", "bad")
	all[1].Sample = func(runner.Config) (runner.Sample, error) {
		switch how {
		case "error":
			return runner.Sample{}, errors.New("no data")
		case "exit":
			os.Exit(7)
		}
		panic("planted")
	}
	return runner.Suite{Name: how, Cases: []runner.Case{{Name: "a=b", Rivals: all}}}
}

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == runner.ChildArgument {
		known := []runner.Suite{fake, broken("error"), broken("exit"), broken("panic")}
		if err := runner.Serve(known, os.Args[1:], os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// measured runs a session of the fake suite.
func measured(t *testing.T, s *runner.Session) *runner.Run {
	t.Helper()
	run := new(runner.Run)
	if err := s.Run(t.Context(), run); err != nil {
		t.Fatal(err)
	}
	return run
}

func TestRivalsTakeTurns(t *testing.T) {
	run := measured(t, &runner.Session{Suites: []runner.Suite{fake}, Count: 3, Stderr: new(strings.Builder)})
	pids := map[float64]bool{float64(os.Getpid()): true}
	for _, c := range fake.Cases {
		last := 0.0
		for round := range 3 {
			for _, rival := range []string{"A", "B", "C"} {
				values := run.Find("fake", c.Name, rival).Values
				if begin := values["begin"][round]; begin < last {
					t.Errorf("%s: sample %d of %s is out of its turn", c.Name, round, rival)
				}
				last = values["end"][round]
				if pid := values["pid"][round]; pids[pid] {
					t.Errorf("%s: %s has no process of its own", c.Name, rival)
				} else {
					pids[pid] = true
				}
				if limited := values["limit"][round] == 64<<20; limited != (c.MemoryLimit != "") {
					t.Errorf("%s: the memory limit of the child is %v", c.Name, values["limit"][round])
				}
			}
		}
	}
}

func TestLongCasesHaveFewRounds(t *testing.T) {
	suite := runner.Suite{Name: "fake", Cases: slices.Clone(fake.Cases)}
	suite.Cases[0].MostRounds, suite.Cases[0].Setup = 2, time.Second
	suite.Cases[1].MostRounds = 5
	s := runner.Session{Suites: []runner.Suite{suite}, Count: 3, Stderr: new(strings.Builder)}
	if got, want := s.Estimate(), 2*3*time.Second; got != want {
		t.Errorf("it takes about %v, want %v", got, want)
	}
	run := measured(t, &s)
	for i, want := range []int{2, 3} {
		if got := len(run.Find("fake", suite.Cases[i].Name, "A").Iterations); got != want {
			t.Errorf("%s: %d samples, want %d", suite.Cases[i].Name, got, want)
		}
	}
}

func TestFailureKeepsSamples(t *testing.T) {
	for how, says := range map[string]string{"error": "exit status 1", "exit": "exit status 7", "panic": "exit status 2"} {
		t.Run(how, func(t *testing.T) {
			var stderr strings.Builder
			s := runner.Session{Suites: []runner.Suite{broken(how)}, Count: 2, Stderr: &stderr}
			run := new(runner.Run)
			err := s.Run(t.Context(), run)
			if err == nil || !strings.Contains(err.Error(), says) || !strings.Contains(err.Error(), "suite "+how+", case a=b, bad") {
				t.Errorf("the error is %v, want %q and the rival", err, says)
			}
			if len(run.Find(how, "a=b", "good").Iterations) != 1 {
				t.Error("the sample before is gone")
			}
			if shown := map[string]string{"error": "no data", "panic": "planted"}[how]; !strings.Contains(stderr.String(), shown) {
				t.Errorf("stderr of the child, %q, is not shown: %q", shown, &stderr)
			}
		})
	}
}

func TestEndOfContextIsTheError(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	reason := errors.New("enough")
	cancel(reason)
	s := runner.Session{Suites: []runner.Suite{fake}, Count: 1, Stderr: new(strings.Builder)}
	if err := s.Run(ctx, new(runner.Run)); !errors.Is(err, reason) {
		t.Errorf("the error is %v", err)
	}
}

// terminal keeps the text that is written, and the times.
type terminal struct {
	strings.Builder
	written []float64
}

func (w *terminal) Write(p []byte) (int, error) {
	w.written = append(w.written, float64(time.Now().UnixMicro()))
	return w.Builder.Write(p)
}

func TestBarIsDrawnBetweenSamplesOnly(t *testing.T) {
	w := new(terminal)
	run := measured(t, &runner.Session{Suites: []runner.Suite{fake}, Count: 2, Time: 20 * time.Millisecond, Stderr: w, Terminal: true})
	for _, s := range run.Series {
		for i, begin := range s.Values["begin"] {
			for _, at := range w.written {
				if at > begin && at < s.Values["end"][i] {
					t.Errorf("something is written while %s, %s is measured", s.Case, s.Rival)
				}
			}
		}
	}
	if !strings.Contains(w.String(), "fake limit=64MiB B 2/2") {
		t.Errorf("the bar does not name the sample: %q", w)
	}
}

func TestLogGetsALineForEachCase(t *testing.T) {
	timed := fake
	timed.Time = 4 * time.Second // each of 3 rivals takes 2 samples of 5 s in each of 2 cases
	for i := range timed.Cases {
		timed.Cases[i].Rivals = rivals("A", "B", "C")
	}
	var log strings.Builder
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s := runner.Session{Suites: []runner.Suite{timed}, Count: 2, Stderr: &log}
	_ = s.Run(ctx, new(runner.Run))
	if want := "bench: fake limit=none, about 1m0s left\n"; log.String() != want {
		t.Errorf("the log says %q, want %q", &log, want)
	}
	log.Reset()
	measured(t, &runner.Session{Suites: []runner.Suite{fake}, Count: 2, Stderr: &log})
	if got := strings.Count(log.String(), "\n"); got != len(fake.Cases) {
		t.Errorf("%d lines, want one for each case: %q", got, &log)
	}
}
