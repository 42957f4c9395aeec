package updateparts_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/poolswap/poolswap/bench/internal/results"
	"github.com/poolswap/poolswap/bench/internal/updateparts"
)

// onLines is a run whose updates take 1,000 ns and 3 for each stripe, with readers
// twice that, and without a fence 900 ns less.
func onLines() *results.Run {
	run := new(results.Run)
	for i, readers := range []string{"none", "others"} {
		for _, stripes := range []float64{3, 5, 17, 257} {
			c := fmt.Sprintf("readers=%s/procs=%v", readers, stripes-1)
			times := float64(i + 1)
			for _, noise := range []float64{-1, 0, 1} {
				run.Get("update", c, "PoolSwap").Add(1, map[string]float64{
					"stripes": stripes, "ns/op": times*(1000+3*stripes) + noise, "sum-ns": 5 + 2*stripes, "turns-ns": 5 + 4*stripes, "fence-ns": times * 1009 / 2,
				})
				run.Get("update", c, "Portable").Add(1, map[string]float64{"stripes": stripes, "ns/op": times*(100+3*stripes) + noise, "sum-ns": 5 + 2*stripes, "turns-ns": 5 + 4*stripes})
			}
		}
	}
	run.Get("read", "procs=1", "PoolSwap").Add(1, map[string]float64{"ns/op": 5})
	return run
}

func TestPartsFollowFromTheRun(t *testing.T) {
	all, err := updateparts.Of(onLines())
	if err != nil {
		t.Fatal(err)
	}
	want := []updateparts.Parts{
		{Readers: "readers=none", Rival: "PoolSwap", Share: 0.5},
		{Readers: "readers=none", Rival: "Portable"},
		{Readers: "readers=others", Rival: "PoolSwap", Share: 0.5},
		{Readers: "readers=others", Rival: "Portable"},
	}
	want[0].Update.Intercept, want[1].Update.Intercept, want[2].Update.Intercept, want[3].Update.Intercept = 1000, 100, 2000, 200
	want[0].Update.Slope, want[1].Update.Slope, want[2].Update.Slope, want[3].Update.Slope = 3, 3, 6, 6
	if len(all) != len(want) {
		t.Fatalf("%+v, want %+v", all, want)
	}
	near := func(a, b float64) bool { return math.Abs(a-b) < 1e-6 }
	for i, got := range all {
		w := want[i]
		if got.Readers != w.Readers || got.Rival != w.Rival || !near(got.Update.Intercept, w.Update.Intercept) || !near(got.Update.Slope, w.Update.Slope) ||
			!near(got.Sum.Slope, 2) || !near(got.Turns.Slope, 4) || !near(got.Share, w.Share) || (got.Fence > 0) != (w.Share > 0) {
			t.Errorf("%+v, want %+v", got, w)
		}
	}
}

func TestTableShowsTheParts(t *testing.T) {
	table, err := updateparts.Table(onLines())
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"| PoolSwap, readers=none | 1 µs | 3 ns | 2 ns | 4 ns | ", " | 50 % |\n", "| Portable, readers=others | 200 ns | 6 ns | 2 ns | 4 ns |  |  |\n"} {
		if !strings.Contains(table, want) {
			t.Errorf("%s\nlacks %q", table, want)
		}
	}
}

func TestNoLineWithoutStripes(t *testing.T) {
	run := new(results.Run)
	if _, err := updateparts.Table(run); err == nil || !strings.Contains(err.Error(), "no sample") {
		t.Errorf("of nothing: %v", err)
	}
	run.Get("update", "readers=none/procs=1", "PoolSwap").Add(1, map[string]float64{"stripes": 3, "ns/op": 5, "sum-ns": 1, "turns-ns": 1})
	if _, err := updateparts.Table(run); err == nil || !strings.Contains(err.Error(), "two numbers of stripes") {
		t.Errorf("of one case: %v", err)
	}
}
