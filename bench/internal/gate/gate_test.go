package gate_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/poolswap/poolswap/bench/internal/gate"
	"github.com/poolswap/poolswap/bench/internal/runner"
)

const gateCases = 16

// gateRun makes up a run whose samples differ by up to a tenth of their median.
// ours and yardstick are how many times as long as usual reads take, of ours in
// one case alone.
func gateRun(seed uint64, samples int, ours, yardstick float64) *runner.Run {
	return gateNoisyRun(seed, samples, ours, yardstick, 0.1)
}

// gateNoisyRun makes up a run whose samples differ by that share of their median.
func gateNoisyRun(seed uint64, samples int, ours, yardstick, noise float64) *runner.Run {
	random := rand.New(rand.NewPCG(seed, 1))
	run := &runner.Run{Machine: runner.Machine{CPU: "a CPU", Model: "family 1", Cores: 2, Counting: "asymmetric", Go: "go1.26"}, Started: "2026-01-02T03:04:05Z"}
	for range samples {
		for i := range gateCases {
			c := fmt.Sprintf("case=%d", i)
			for rival, ns := range map[string]float64{"PoolSwap": 4, "Portable": 12, "RWMutexRef": 22 * yardstick} {
				if i == 7 && rival == "PoolSwap" {
					ns *= ours
				}
				if rival != "RWMutexRef" {
					ns *= yardstick // a machine that is slower is so in all
				}
				run.Add("read", c, rival, runner.Sample{Values: map[string]float64{"ns/op": ns * (1 + noise*(random.Float64()-0.5))}})
			}
		}
	}
	return run
}

func TestLossIsFound(t *testing.T) {
	losses, compared := gate.Compare(gateRun(1, 10, 1.25, 1), gateRun(2, 10, 1, 1))
	if compared != 2*gateCases {
		t.Errorf("%d figures are compared", compared)
	}
	if len(losses) != 1 || losses[0].Case != "case=7" || losses[0].Rival != "PoolSwap" || losses[0].After < 1.15*losses[0].Before {
		t.Errorf("%+v", losses)
	}
}

func TestNoLossIsFound(t *testing.T) {
	for _, c := range []struct {
		name            string
		ours, yardstick float64
	}{
		{"in noise", 1, 1},
		{"where reads are faster", 0.7, 1},
		{"within what is tolerated", 1.06, 1},
		{"where the machine is slower in all", 1, 1.6},
	} {
		t.Run(c.name, func(t *testing.T) {
			for seed := range uint64(200) {
				if losses, _ := gate.Compare(gateRun(2*seed, 10, c.ours, c.yardstick), gateRun(2*seed+1, 10, 1, 1)); len(losses) > 0 {
					t.Errorf("seed %d: %+v", seed, losses)
				}
			}
		})
	}
}

// TestManyComparisonsFindNoMoreByChance: on a busy machine samples differ by
// more than the loss that is looked for.
func TestManyComparisonsFindNoMoreByChance(t *testing.T) {
	const runs = 200
	failed := 0
	for seed := range uint64(runs) {
		if losses, _ := gate.Compare(gateNoisyRun(2*seed, 10, 1, 1, 1.5), gateNoisyRun(2*seed+1, 10, 1, 1, 1.5)); len(losses) > 0 {
			failed++
		}
	}
	if failed > runs/20 {
		t.Errorf("%d of %d runs without a loss fail", failed, runs)
	}
}

func TestTheRivalsOfOthersAreNotGated(t *testing.T) {
	fresh, kept := gateRun(1, 10, 1, 1), gateRun(2, 10, 1, 1)
	for _, run := range []*runner.Run{fresh, kept} {
		for range 10 {
			run.Add("read", "case=1", "RWMutex", runner.Sample{Values: map[string]float64{"ns/op": map[bool]float64{true: 9, false: 3}[run == fresh]}})
		}
	}
	if losses, _ := gate.Compare(fresh, kept); len(losses) > 0 {
		t.Errorf("%+v", losses)
	}
}

func TestTheLeastSamplesFindALoss(t *testing.T) {
	if losses, _ := gate.Compare(gateRun(1, gate.Least, 2, 1), gateRun(2, gate.Least, 1, 1)); len(losses) != 1 {
		t.Errorf("%+v", losses)
	}
}

func TestCheck(t *testing.T) {
	folder := t.TempDir()
	kept := gateRun(1, 10, 1, 1)
	if err := kept.Keep(folder + "/" + kept.Machine.Slug()); err != nil {
		t.Fatal(err)
	}
	other := func(change func(*runner.Machine)) *runner.Run {
		run := gateRun(2, 10, 2, 1)
		change(&run.Machine)
		return run
	}
	slow, usual := gateRun(3, 10, 2, 1), gateRun(4, 10, 1, 1)
	elsewhere := gateRun(5, 10, 1, 1)
	for i := range 10 {
		elsewhere.Find("read", "case=3", "Portable").Values["ns/op"][i] *= 2
	}
	for _, c := range []struct {
		name  string
		fresh *runner.Run
		loss  bool
		says  string
		again []*runner.Run // what is measured after that
	}{
		{"no loss", gateRun(2, 10, 1, 1), false, "gate: 0 of 32 figures lost more than 10 % for good", nil},
		{"a loss that lasts", gateRun(2, 10, 2, 1), true, "gate: read, case=7, PoolSwap: ", []*runner.Run{slow, slow}},
		{"a loss in one run", slow, false, "gate: 0 of 32", []*runner.Run{usual}},
		{"a loss in two runs", slow, false, "gate: 0 of 32", []*runner.Run{slow, usual}},
		{"a loss in one run, and another in the next", slow, false, "gate: 0 of 32", []*runner.Run{elsewhere}},
		{"another processor", other(func(m *runner.Machine) { m.Model = "family 2" }), false, "a-cpu-family-2", nil},
		{"more cores", other(func(m *runner.Machine) { m.Cores = 3 }), false, "is of 2 cores and asymmetric counting", nil},
		{"another counting", other(func(m *runner.Machine) { m.Counting = "portable" }), false, "is of 2 cores and asymmetric counting", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			var says strings.Builder
			err := gate.Check(&says, folder, c.fresh, func() (*runner.Run, error) {
				if len(c.again) == 0 {
					return nil, errors.New("measured once more than is needed")
				}
				next := c.again[0]
				c.again = c.again[1:]
				return next, nil
			})
			if len(c.again) > 0 {
				t.Errorf("%d runs less than are needed", len(c.again))
			}
			if errors.Is(err, gate.ErrLoss) != c.loss || err != nil && !c.loss {
				t.Errorf("returns %v", err)
			}
			if !strings.Contains(says.String(), c.says) {
				t.Errorf("says %q, want %q", says.String(), c.says)
			}
		})
	}
}
