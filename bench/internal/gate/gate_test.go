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

// gateRun makes up a run whose samples differ by that share of their median. ours
// and yardstick are how many times as long as usual reads take, of ours in one case
// alone.
func gateRun(seed uint64, samples int, ours, yardstick, noise float64) *runner.Run {
	random := rand.New(rand.NewPCG(seed, 1))
	run := &runner.Run{Machine: runner.Machine{CPU: "a CPU", Model: "family 1", Cores: 2, Counting: "asymmetric", Go: "go1.26"}, Started: "2026-01-02T03:04:05Z"}
	for range samples {
		for i := range gateCases {
			for rival, ns := range map[string]float64{"PoolSwap": 4, "Portable": 12, "RWMutexRef": 22, "RWMutex": 3} {
				switch {
				case i == 7 && rival == "PoolSwap":
					ns *= ours
				case rival == "RWMutex":
					ns *= 1 + float64(seed%2) // is slower in each kept run: it is not gated
				}
				// A machine that is slower is so in all.
				run.Add("read", fmt.Sprintf("case=%d", i), rival, runner.Sample{Values: map[string]float64{"ns/op": ns * yardstick * (1 + noise*(random.Float64()-0.5))}})
			}
		}
	}
	return run
}

func TestLossIsFound(t *testing.T) {
	for _, samples := range []int{gate.Least, 10} {
		losses, compared := gate.Compare(gateRun(1, samples, 1.5, 1, 0.1), gateRun(2, samples, 1, 1, 0.1))
		if compared != 2*gateCases {
			t.Errorf("%d figures are compared", compared)
		}
		if len(losses) != 1 || losses[0].Case != "case=7" || losses[0].Rival != "PoolSwap" || losses[0].After < 1.4*losses[0].Before {
			t.Errorf("of %d samples: %+v", samples, losses)
		}
	}
}

func TestNoLossIsFound(t *testing.T) {
	for _, c := range []struct {
		name                   string
		ours, yardstick, noise float64
		most                   int // runs of 200 that may fail
	}{
		{"in noise", 1, 1, 0.1, 0},
		{"where reads are faster", 0.7, 1, 0.1, 0},
		{"within the tolerance", 1.06, 1, 0.1, 0},
		{"where the machine is slower in all", 1, 1.6, 0.1, 0},
		{"by more than chance, on a busy machine", 1, 1, 1.5, 10},
	} {
		t.Run(c.name, func(t *testing.T) {
			failed := 0
			for seed := range uint64(200) {
				if losses, _ := gate.Compare(gateRun(2*seed+1, 10, c.ours, c.yardstick, c.noise), gateRun(2*seed, 10, 1, 1, c.noise)); len(losses) > 0 {
					failed++
				}
			}
			if failed > c.most {
				t.Errorf("%d runs of 200 fail, want %d at most", failed, c.most)
			}
		})
	}
}

func TestCheck(t *testing.T) {
	folder := t.TempDir()
	kept := gateRun(1, 10, 1, 1, 0.1)
	if err := kept.Keep(folder + "/" + kept.Machine.Slug()); err != nil {
		t.Fatal(err)
	}
	slow := func(change func(*runner.Machine)) *runner.Run {
		run := gateRun(2, 10, 2, 1, 0.1)
		change(&run.Machine)
		return run
	}
	here := slow(func(*runner.Machine) {})
	usual, elsewhere := gateRun(4, 10, 1, 1, 0.1), gateRun(5, 10, 1, 1, 0.1)
	for i := range 10 {
		elsewhere.Values("read", "case=3", "Portable", "ns/op")[i] *= 2
	}
	for _, c := range []struct {
		name  string
		fresh *runner.Run
		loss  bool
		says  string
		again []*runner.Run // the runs after that
	}{
		{"no loss", usual, false, "gate: 0 of 32 figures lost more than 10 % for good", nil},
		{"a loss that lasts", here, true, "gate: read, case=7, PoolSwap: ", []*runner.Run{here, here}},
		{"a loss in one run", here, false, "gate: 0 of 32", []*runner.Run{usual}},
		{"a loss in two runs", here, false, "gate: 0 of 32", []*runner.Run{here, usual}},
		{"a loss in one run, and another in the next", here, false, "gate: 0 of 32", []*runner.Run{elsewhere}},
		{"another processor", slow(func(m *runner.Machine) { m.Model = "family 2" }), false, "a-cpu-family-2", nil},
		{"more cores", slow(func(m *runner.Machine) { m.Cores = 3 }), false, "is of 2 cores and asymmetric counting", nil},
		{"another counting", slow(func(m *runner.Machine) { m.Counting = "portable" }), false, "is of 2 cores and asymmetric counting", nil},
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
