package report_test

import (
	"strings"
	"testing"

	"github.com/poolswap/poolswap/bench/internal/report"
	"github.com/poolswap/poolswap/bench/internal/runner"
	"github.com/poolswap/poolswap/bench/internal/suites"
)

const alone = "procs=1/goroutines=1/writer=none"

func quotes() *report.Quotes {
	run := &runner.Run{Machine: runner.Machine{CPU: "a CPU", Cores: 2, OS: "linux", Arch: "amd64", Go: "go1.26"}, Started: "2026-01-02T03:04:05Z", Command: "go run", Others: 0.02}
	for _, ns := range []float64{5, 5.1, 4.9} {
		run.Add("read", alone, "PoolSwap", runner.Sample{Values: map[string]float64{"ns/op": ns, "core-ns/op": ns / 2}})
		run.Add("read", "procs=1/goroutines=2/writer=none", "PoolSwap", runner.Sample{Values: map[string]float64{"ns/op": ns + 1}})
		run.Add("read", alone, "RWMutexRef", runner.Sample{Values: map[string]float64{"ns/op": 4 * ns}})
	}
	for _, ns := range []float64{3, 3, 3} {
		run.Add("rivals", "threads=1/writer=none", "PoolSwap", runner.Sample{Values: map[string]float64{"ns/op": ns}})
		run.Add("rivals", "threads=1/writer=none", "arc-swap", runner.Sample{Values: map[string]float64{"ns/op": 2 * ns}})
		run.Add("rivals", "threads=2/writer=none", "PoolSwap", runner.Sample{Values: map[string]float64{"ns/op": ns - 1}})
	}
	return &report.Quotes{Suites: suites.All(), Runs: map[string]*runner.Run{"bench/results": run}}
}

func TestUpdateWritesWhatCheckAccepts(t *testing.T) {
	s := quotes()
	for _, c := range []struct{ name, document, want string }{
		{"a table", "<!-- figures: bench/results read rivals=PoolSwap,RWMutexRef -->\nold\n<!-- /figures -->", "| procs=1, goroutines=1, writer=none | 5 ns | 20 ns |"},
		{"a table of ratios", "<!-- figures: bench/results read ratio rivals=RWMutexRef -->\n<!-- /figures -->", "| 4x |"},
		{"a row for each unit", "<!-- figures: bench/results read unit=ns/op,core-ns/op rivals=PoolSwap -->\n<!-- /figures -->", "writer=none: time/op | 5 ns |\n| procs=1, goroutines=1, writer=none: per core | 2.50 ns |"},
		{"two cases", "<!-- figures: bench/results read case=goroutines=1/,goroutines=2/ rivals=PoolSwap -->\n<!-- /figures -->", "| procs=1, goroutines=1, writer=none | 5 ns |\n| procs=1, goroutines=2, writer=none | 6 ns |"},
		{"a row for each rival", "<!-- figures: bench/results rivals by-rival rivals=PoolSwap,arc-swap -->\n<!-- /figures -->", "| PoolSwap | this library, Acquire and Release | 3 ns | 2 ns | yes | yes | yes | no |\n| arc-swap | Rust, arc-swap 1.9.3, load | 6 ns | - | yes | yes | no | no |\n"},
		{"the machine", "<!-- figures: bench/results machine --><!-- /figures -->", "a CPU, 2 cores, linux/amd64, go1.26; `go run`, 2026-01-02, other processes used 2 % of the CPU"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := s.Update(c.document)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(got, c.want) {
				t.Errorf("got %s\nwant %s in it", got, c.want)
			}
			if wrong := s.Check(got); len(wrong) > 0 {
				t.Errorf("refused: %v", wrong)
			}
			if again, _ := s.Update(got); again != got {
				t.Errorf("a second update changes %s\nto %s", got, again)
			}
		})
	}
}

func TestCheckRefuses(t *testing.T) {
	s := quotes()
	good, err := s.Update("<!-- figures: bench/results read case=" + alone + " rivals=PoolSwap --><!-- /figures -->")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, document, want string }{
		{"a figure that the run does not have", strings.Replace(good, "5 ns", "4 ns", 1), "but the results say"},
		{"a table edited by hand", "<!-- figures: bench/results read -->\n| 1 ns |\n<!-- /figures -->", "but the results say"},
		{"a document without figures", "fast!", "no figure is marked"},
		{"a time outside of marks", good + " and 7.5 ns elsewhere", `"7.5 ns" is quoted without a mark`},
		{"a time with a space that does not break", good + " 7.5\u00a0µs", "without a mark"},
		{"a mark that does not end", good + "<!-- figures: bench/results read -->", "has no other half"},
		{"a case that is not there", "<!-- figures: bench/results read case=none= -->1<!-- /figures -->", "hold no"},
		{"a suite that is not there", "<!-- figures: bench/results nothing --><!-- /figures -->", "no suite"},
		{"an option that is not there", "<!-- figures: bench/results read units=x --><!-- /figures -->", "no option"},
		{"a mark within a sentence", good + " takes <!-- figure: read -->5 s<!-- /figure -->", "has no other half"},
		{"a case by rival that is not there", "<!-- figures: bench/results rivals by-rival case=none= --><!-- /figures -->", "hold no"},
		{"a run that is not there", "<!-- figures: elsewhere --><!-- /figures -->", "must begin with"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var all []string
			for _, err := range s.Check(c.document) {
				all = append(all, err.Error())
			}
			if !strings.Contains(strings.Join(all, "\n"), c.want) {
				t.Errorf("says %q, want %q", all, c.want)
			}
		})
	}
}
