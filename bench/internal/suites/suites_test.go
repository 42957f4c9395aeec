package suites_test

import (
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/poolswap/poolswap/bench/internal/runner"
	"github.com/poolswap/poolswap/bench/internal/suites"
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
	for _, s := range suites.All() {
		if s.Name == "rivals" {
			continue // its programs must be built first: languages_test.go
		}
		t.Run(s.Name, func(t *testing.T) {
			for _, c := range s.Cases {
				if testing.Short() && strings.Contains(c.Name, "goroutines=") && !strings.Contains(c.Name, "goroutines=2") {
					continue
				}
				for _, rival := range c.Rivals {
					sample, err := rival.Sample(smallest)
					if err != nil {
						t.Errorf("%s, %s: %v", c.Name, rival.Name, err)
						continue
					}
					if sample.Iterations < 1 {
						t.Errorf("%s, %s: %d iterations", c.Name, rival.Name, sample.Iterations)
					}
					shown := 0
					for unit, value := range sample.Values {
						rise := unit == "heap-bytes" || unit == "rss-bytes" // which can be a fall
						if math.IsNaN(value) || math.IsInf(value, 0) || value < 0 && !rise {
							t.Errorf("%s, %s: %v %s", c.Name, rival.Name, value, unit)
						}
					}
					for _, column := range s.Columns {
						if _, ok := sample.Values[column.Unit]; ok {
							shown++
						}
					}
					if shown == 0 {
						t.Errorf("%s, %s: no column of the table has a value", c.Name, rival.Name)
					}
				}
			}
		})
	}
}

func TestDefinitionsAreWhole(t *testing.T) {
	for _, s := range suites.All() {
		for _, c := range s.Cases {
			if c.Find(c.Ours) == nil {
				t.Errorf("%s, %s: there is no %q to compare with", s.Name, c.Name, c.Ours)
			}
			if s.Find(c.Name).Name != c.Name || strings.ContainsRune(c.Name, ' ') {
				t.Errorf("%s: %q is not a name for a case", s.Name, c.Name)
			}
			for _, part := range strings.Split(c.Name, "/") {
				if !strings.Contains(part, "=") {
					t.Errorf("%s: %q is not key=value", s.Name, part)
				}
			}
		}
		for _, chart := range s.Charts {
			for _, p := range chart.Points {
				if s.Find(p.Case) == nil {
					t.Errorf("%s, chart %q: there is no case %q", s.Name, chart.Title, p.Case)
				}
			}
		}
	}
}

// sample takes one sample of real size where that is fast, and small elsewhere.
func sample(t *testing.T, suite, c, rival string, config runner.Config) runner.Sample {
	t.Helper()
	for _, s := range suites.All() {
		if s.Name == suite {
			got, err := s.Find(c).Find(rival).Sample(config)
			if err != nil {
				t.Fatal(err)
			}
			return got
		}
	}
	t.Fatalf("no suite %s", suite)
	return runner.Sample{}
}

func TestWhoRunsResetIsSeen(t *testing.T) {
	ours := sample(t, "latency", "reads=last-release", "PoolSwap", smallest)
	theirs := sample(t, "latency", "reads=last-release", "RWMutexRef", smallest)
	if n := ours.Values["reader-resets"]; n != 0 {
		t.Errorf("PoolSwap: %v resets by readers", n)
	}
	if n := theirs.Values["reader-resets"]; n != float64(theirs.Iterations) {
		t.Errorf("RWMutexRef: %v resets by readers in %d iterations: the measurement does not see them", n, theirs.Iterations)
	}
}

func TestCadenceCountsFactoryCalls(t *testing.T) {
	config := runner.Config{Time: time.Millisecond, Shrink: 10}
	for _, c := range []struct {
		rival string
		want  float64
	}{{"PoolSwap", 0}, {"RWMutexRef", 10}, {"AtomicPtr", 10}} {
		if n := sample(t, "cadence", "collections=3", c.rival, config).Values["factory-calls"]; n != c.want {
			t.Errorf("%s: %v factory calls in 10 updates with 3 collections between two, want %v", c.rival, n, c.want)
		}
	}
}

func TestShareOfWritesIsExact(t *testing.T) {
	// Allocations per operation of a rival that allocates on writes alone
	// show the share of writes: ten times as many at ten times the share.
	one := sample(t, "hotswap", "writes=1%/limit=512MiB", "AtomicPtr", runner.Config{Time: 20 * time.Millisecond, Shrink: 100})
	ten := sample(t, "hotswap", "writes=10%/limit=512MiB", "AtomicPtr", runner.Config{Time: 20 * time.Millisecond, Shrink: 100})
	if ratio := ten.Values["B/op"] / one.Values["B/op"]; ratio < 9 || ratio > 11 {
		t.Errorf("ten times the share of writes allocates %.2f times as much", ratio)
	}
	if made := one.Values["maps/op"]; made != 0.01 {
		t.Errorf("%v maps made per operation where 1 %% are writes", made)
	}
}
