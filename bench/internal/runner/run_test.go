package runner

import (
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestSummary(t *testing.T) {
	for _, c := range []struct {
		name   string
		values []float64
		want   Summary
	}{
		{"one value is its own interval", []float64{7}, Summary{7, 7, 7, 1}},
		{"of few the interval is the range", []float64{3, 1, 2}, Summary{2, 1, 3, 3}},
		{"six have an interval", []float64{6, 5, 4, 3, 2, 1}, Summary{3.5, 1, 6, 6}},
		{"an outlier does not move the median", []float64{1, 1, 1, 1, 1, 1, 1, 1, 1, 1000}, Summary{1, 1, 1, 10}},
	} {
		t.Run(c.name, func(t *testing.T) {
			before := slices.Clone(c.values)
			if got := Summarize(c.values); got != c.want {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
			if !slices.Equal(before, c.values) {
				t.Error("the order of the samples has been changed")
			}
		})
	}
	if s := Summarize(nil); s.N != 0 || !math.IsNaN(s.Median) {
		t.Errorf("of nothing: %+v", s)
	}
	if s := (Summary{Median: 10, Low: 9, High: 12}).Spread(); s != 0.2 {
		t.Errorf("spread %v, want 0.2", s)
	}
}

func TestRatioComparesRounds(t *testing.T) {
	// A machine that becomes slower in each round, and a rival that takes twice as
	// long in each: only the comparison round by round sees that.
	if r := Ratio([]float64{2, 4, 6, 8, 10}, []float64{1, 2, 3, 4, 5}); r != 2 {
		t.Errorf("%v, want 2", r)
	}
	if r := Ratio([]float64{1, 2}, []float64{0, 2}); r != 1 {
		t.Errorf("a base of 0 was not left out: %v", r)
	}
	if r := Ratio(nil, []float64{1}); !math.IsNaN(r) {
		t.Errorf("of nothing: %v", r)
	}
	if p := Chance([]float64{10, 11, 12, 10, 11, 12}, []float64{1, 1.1, 1.2, 1, 1.1, 1.2}); p >= 0.05 {
		t.Errorf("ten times as much is taken for chance: %v", p)
	}
	if p := Chance([]float64{1, 2, 1, 2, 1, 2}, []float64{2, 1, 2, 1, 2, 1}); p < 0.05 {
		t.Errorf("the same values in another order are taken for a difference: %v", p)
	}
}

func TestReadTextReadsWriteText(t *testing.T) {
	run := &Run{Machine: Machine{CPU: "AMD EPYC", Model: "family 25 model 1 stepping 1", Cores: 2, Go: "go1.26"}, Command: "go run", Started: "2026-01-02T03:04:05Z", Others: 0.125}
	for _, ns := range []float64{4, 5.5} {
		run.Add("read", "procs=1/goroutines=2", "Reader.Load", Sample{3, map[string]float64{"ns/op": ns, "core-ns/op": 2 * ns}})
		run.Add("read", "procs=1/goroutines=2", "a-b", Sample{1, map[string]float64{"p99.9-ns": ns}})
	}
	folder := t.TempDir() + "/new/folder"
	if err := run.Keep(folder); err != nil {
		t.Fatal(err)
	}
	read, err := ReadKept(folder)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(read, run) {
		t.Errorf("%+v, want %+v", read, run)
	}
	for _, text := range []string{"", "BenchmarkX 1 1 ns/op\n", "BenchmarkX/y=1-2 1 1 ns/op\n"} {
		if run, err := ReadText(strings.NewReader(text), "text"); err == nil {
			t.Errorf("%q is taken for %+v", text, run)
		}
	}
}

func TestMachineIsReadFromCPUInfo(t *testing.T) {
	for info, slug := range map[string]string{
		"processor\t: 0\ncpu family\t: 25\nmodel\t\t: 1\nmodel name\t: AMD EPYC\nstepping\t: 1\n\nprocessor\t: 1\nmodel name\t: Other\n": "amd-epyc-family-25-model-1-stepping-1",
		"model name\t: Intel(R) Xeon(R) CPU @ 2.20GHz\n": "intel-r-xeon-r-cpu-2-20ghz",
		"": "unknown-amd64",
	} {
		m := Machine{CPU: "unknown amd64"}
		m.readCPU(info)
		if got := m.Slug(); got != slug {
			t.Errorf("%q, want %q", got, slug)
		}
	}
}

func TestTicksAreThoseOfAllProcessors(t *testing.T) {
	busy, all := parseTicks("cpu  100 10 20 500 50 3 4 13 7 0\ncpu0 1 1 1 1\n")
	if busy != 1500*time.Millisecond || all != 7*time.Second {
		t.Errorf("%v of %v; want 1.5s of 7s", busy, all)
	}
	for _, text := range []string{"", "cpu 1 2 3 4\n", "cpu 1 2 3 4 5 6 seven 8\n"} {
		if _, all := parseTicks(text); all != 0 {
			t.Errorf("%q is taken for times", text)
		}
	}
}

func TestOthersHaveAShare(t *testing.T) {
	_, before := readTicks()
	share := WatchOthers()
	if before == 0 {
		if got := share(); got != -1 {
			t.Errorf("%v, where nothing is told", got)
		}
		return
	}
	for now := before; now < before+100*time.Millisecond; {
		_, now = readTicks()
	}
	if got := share(); got < 0 || got > 1 {
		t.Errorf("the share of others is %v", got)
	}
}

// TestNoSampleIsWithoutOperations has goroutines that all find the time up when
// they begin.
func TestNoSampleIsWithoutOperations(t *testing.T) {
	sample := Parallel(4, time.Nanosecond, func(_ int, w *Stopwatch) (operations int) {
		for w.Running() {
			operations++
		}
		return operations
	})
	if ns := sample.Values["ns/op"]; sample.Iterations < 4 || math.IsInf(ns, 0) || math.IsNaN(ns) {
		t.Errorf("%d operations of %g ns, want one or more of each goroutine", sample.Iterations, ns)
	}
}
