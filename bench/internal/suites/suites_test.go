package suites

import (
	"math"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/poolswap/poolswap/bench/internal/runner"
)

// TestMain removes the servers that the suites of fleets have built.
func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "suites-")
	if err != nil {
		panic(err)
	}
	_ = os.Setenv("TMPDIR", dir)
	status := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(status)
}

// smallest is a run that shows that a suite works, and nothing else.
var smallest = runner.Config{Time: time.Millisecond, Shrink: 1000}

func TestEachRivalOfEachCase(t *testing.T) {
	for _, s := range All() {
		if s.Name == "rivals" || s.Name == "steady" && runtime.GOOS != "linux" {
			continue // its programs must be built first: programs_test.go
		}
		t.Run(s.Name, func(t *testing.T) {
			for _, c := range s.Cases {
				if testing.Short() && strings.Contains(c.Name, "goroutines=") && !strings.Contains(c.Name, "goroutines=2") {
					continue
				}
				for _, rival := range c.Rivals {
					sample, err := rival.Sample(smallest)
					if err != nil || sample.Iterations < 1 {
						t.Errorf("%s, %s: %d iterations, %v", c.Name, rival.Name, sample.Iterations, err)
						continue
					}
					for unit, value := range sample.Values {
						fall := value < 0 && unit == "heap-bytes"
						if math.IsNaN(value) || math.IsInf(value, 0) || value < 0 && !fall {
							t.Errorf("%s, %s: %v %s", c.Name, rival.Name, value, unit)
						}
					}
					if !slices.ContainsFunc(s.Columns, func(column runner.Column) bool { _, ok := sample.Values[column.Unit]; return ok }) {
						t.Errorf("%s, %s: no column of the table has a value", c.Name, rival.Name)
					}
				}
			}
		})
	}
}

func TestDefinitionsAreWhole(t *testing.T) {
	for _, s := range All() {
		for _, c := range s.Cases {
			if c.Find(c.Ours) == nil {
				t.Errorf("%s, %s: there is no %q to compare with", s.Name, c.Name, c.Ours)
			}
			if &c.Rivals[0] != &s.Find(c.Name).Rivals[0] || strings.ContainsRune(c.Name, ' ') {
				t.Errorf("%s: %q is not a name for a case", s.Name, c.Name)
			}
			for _, part := range strings.Split(c.Name, "/") {
				if !strings.Contains(part, "=") {
					t.Errorf("%s: %q is not key=value", s.Name, part)
				}
			}
		}
		for _, chart := range s.Charts {
			if len(chart.Points) == 0 {
				t.Errorf("%s, chart %q is empty", s.Name, chart.Title)
			}
			for _, p := range chart.Points {
				if s.Find(p.Case) == nil {
					t.Errorf("%s, chart %q: there is no case %q", s.Name, chart.Title, p.Case)
				}
			}
		}
	}
}

// sampled takes one sample of real size where that is fast, and small elsewhere.
func sampled(t *testing.T, suite, c, rival string, config runner.Config) runner.Sample {
	t.Helper()
	all := All()
	i := slices.IndexFunc(all, func(s runner.Suite) bool { return s.Name == suite })
	got, err := all[i].Find(c).Find(rival).Sample(config)
	if err != nil {
		t.Fatal(err)
	}
	return got
}
