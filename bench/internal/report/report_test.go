package report_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/poolswap/poolswap/bench/internal/report"
	"github.com/poolswap/poolswap/bench/internal/rivals"
	"github.com/poolswap/poolswap/bench/internal/runner"
	"github.com/poolswap/poolswap/bench/internal/suites"
)

// fake is a suite with both kinds of charts, and its run.
func fake() ([]runner.Suite, *runner.Run) {
	points := []runner.Point{{Label: "few", Case: "n=1", Unit: "ns/op"}, {Label: "many", Case: "n=2", Unit: "ns/op"}}
	s := runner.Suite{
		Name: "fake", Title: "A title", About: "About it.", Columns: runner.Columns("ns/op", "time/op", "B/op", "B/op", "gcs", "never measured"),
		Charts: []runner.Chart{{Title: "Bars", Points: points}, {Title: "Lines", Axis: "n", Log: true, Points: points}},
	}
	run := &runner.Run{Machine: runner.Machine{CPU: "a CPU", Cores: 2, Go: "go1.26"}, Command: "go run", Others: -1}
	for i, name := range []string{"n=1", "n=2", "n=3"} {
		s.Cases = append(s.Cases, runner.Case{Name: name, Ours: "mine", Rivals: []runner.Rival{
			{Name: "mine"}, {Name: "theirs", Published: map[string]float64{"B/op": 4096}}, {Name: "<other>", Published: map[string]float64{"B/op": 2048}},
		}})
		for round := range 6 {
			for rival, ns := range map[string]float64{"mine": 10, "theirs": 20, "<other>": 10.1} {
				if name != "n=3" {
					run.Add("fake", name, rival, runner.Sample{Iterations: 1, Values: map[string]float64{"ns/op": float64(i+1)*ns + float64(round), "B/op": 100}})
				}
			}
		}
	}
	return []runner.Suite{s}, run
}

func TestTable(t *testing.T) {
	all, run := fake()
	var out strings.Builder
	if err := report.NewTable(&all[0], run).WriteText(&out); err != nil {
		t.Fatal(err)
	}
	const want = `
fake: A title
About it.

n=1
  rival    time/op  ±    to ours  B/op   published
  mine     12.5 ns  20%  1x       100 B  
  theirs   22.5 ns  11%  1.80x    100 B  4 KiB (1x)
  <other>  12.6 ns  20%  1.01x ~  100 B  2 KiB (0.50x)
`
	if got, _, _ := strings.Cut(out.String(), "\nn=2"); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	if strings.Contains(out.String(), "n=3") {
		t.Error("a case that was not measured is shown")
	}
}

func TestChartsShowMedians(t *testing.T) {
	all, run := fake()
	var page bytes.Buffer
	if err := report.WriteHTML(&page, all, run); err != nil {
		t.Fatal(err)
	}
	drawings := regexp.MustCompile(`(?s)<svg.*?</svg>`).FindAllString(page.String(), -1)
	if len(drawings) != 2 {
		t.Fatalf("%d drawings, want bars and lines", len(drawings))
	}
	for _, text := range []string{">few<", ">many<", ">mine<", ">&lt;other&gt;<", ">12.5 ns<", ">42.5 ns<"} {
		if !strings.Contains(drawings[0], text) {
			t.Errorf("the bars lack %q", text)
		}
	}
	if got := strings.Count(drawings[0], "fill:var(--s0)"); got < 2 {
		t.Errorf("%d bars are ours, want two", got)
	}
	if lines := regexp.MustCompile(`<path d="M[^LAZ]*L[^LAZ]*" style="fill:none;stroke:var\(--s\d\)`).FindAllString(drawings[1], -1); len(lines) != 3 {
		t.Errorf("%d lines through two points, want 3", len(lines))
	}
	for _, text := range []string{">few<", ">many<", ">20 ns<"} {
		if !strings.Contains(drawings[1], text) {
			t.Errorf("the lines lack %q", text)
		}
	}
}

// TestPageStandsAlone: nothing is loaded from elsewhere, and no browser has to
// forgive anything.
func TestPageStandsAlone(t *testing.T) {
	run, err := runner.ReadKept("../../results")
	if err != nil {
		t.Fatal(err)
	}
	run.Partial = true
	path, err := report.Write(t.TempDir(), suites.All(), run)
	if err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	page := string(content)
	for _, bad := range []string{"<script", "<link", "@import", "url(", "src=", `href="http`, "NaN", "ZgotmplZ"} {
		if strings.Contains(page, bad) {
			t.Errorf("the page contains %q", bad)
		}
	}
	for _, needed := range []string{"AMD EPYC", "2 cores", "prefers-color-scheme: dark", "go run -C bench .", "did not come to its end"} {
		if !strings.Contains(page, needed) {
			t.Errorf("the page lacks %q", needed)
		}
	}
	drawings := regexp.MustCompile(`(?s)<svg.*?</svg>`).FindAllString(page, -1)
	if len(drawings) < 15 {
		t.Errorf("%d drawings only", len(drawings))
	}
	for _, drawing := range drawings {
		for decoder := xml.NewDecoder(strings.NewReader(drawing)); ; {
			if _, err := decoder.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Errorf("%v in %.80s", err, drawing)
				break
			}
		}
	}
}

// TestEachRivalIsExplained: the page says what each way to share is.
func TestEachRivalIsExplained(t *testing.T) {
	for _, s := range suites.All() {
		if s.Name == "pooling" || s.Promises != nil {
			continue // these compare other things, or have promises
		}
		for _, c := range s.Cases {
			for _, rival := range c.Rivals {
				explained := strings.Contains(s.About, rival.Name)
				for _, way := range rivals.Ways {
					explained = explained || way.Name == rival.Name
				}
				if !explained {
					t.Errorf("%s, %s: nothing says what %s is", s.Name, c.Name, rival.Name)
				}
			}
		}
	}
}

func TestBusyMachineIsToldFromAQuietOne(t *testing.T) {
	for others, want := range map[float64]string{
		-1:    "",
		0.013: "1% of the processors' time went to other programs\n",
		0.2:   "20% of the processors' time went to other programs: times are too long, and ratios uncertain\n",
	} {
		if got := report.Others(&runner.Run{Others: others}); got != want {
			t.Errorf("%v: %q, want %q", others, got, want)
		}
	}
}

func TestFormat(t *testing.T) {
	for _, c := range []struct {
		value float64
		unit  string
		want  string
	}{
		{5.024, "ns/op", "5.02 ns"},
		{0.2563, "ns/op", "0.26 ns"},
		{0.0123, "ns/op", "0.012 ns"},
		{999.4, "ns/op", "999 ns"},
		{999.9, "core-ns/op", "1.00 µs"},
		{27_650_000, "max-ns", "27.6 ms"},
		{61e9, "max-ns", "61 s"},
		{0.9, "B/op", "0 B"},
		{52_485, "B/op", "51.3 KiB"},
		{-300, "heap-bytes", "-300 B"},
		{129.57, "allocs/op", "129"},
		{2, "factory-calls", "2"},
	} {
		if got := report.Format(c.value, c.unit); got != c.want {
			t.Errorf("%v %s is shown as %q, want %q", c.value, c.unit, got, c.want)
		}
	}
}
