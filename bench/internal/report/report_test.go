package report_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/poolswap/poolswap/bench/internal/report"
	"github.com/poolswap/poolswap/bench/internal/results"
	"github.com/poolswap/poolswap/bench/internal/rivals"
	"github.com/poolswap/poolswap/bench/internal/suites"
)

var update = flag.Bool("update", false, "write the golden files anew")

// recorded is a short run on a busy machine: its figures mean nothing, but they
// are as uneven as figures get.
func recorded(t *testing.T) *results.Run {
	t.Helper()
	f, err := os.Open("testdata/recorded.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	run, err := results.ReadText(f, f.Name())
	if err != nil {
		t.Fatal(err)
	}
	return run
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs from what is written now; look at the difference after go test ./internal/report -update", path)
	}
}

func TestTablesAreAsRecorded(t *testing.T) {
	run := recorded(t)
	var out bytes.Buffer
	all := suites.All()
	for i := range all {
		if err := report.NewTable(&all[i], run).WriteText(&out); err != nil {
			t.Fatal(err)
		}
	}
	golden(t, "tables.txt", out.Bytes())
}

func TestReportIsAsRecorded(t *testing.T) {
	folder := t.TempDir()
	path, err := report.Write(folder, suites.All(), recorded(t))
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "report.html", page)

	text, err := os.ReadFile(filepath.Join(folder, results.File))
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "recorded.txt", text) // reading and writing change nothing

	encoded, err := os.ReadFile(filepath.Join(folder, "results.json"))
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "results.json", encoded)
	if !json.Valid(encoded) {
		t.Error("results.json is not JSON")
	}
}

// TestPageStandsAlone: nothing is loaded from elsewhere, and what browsers
// forgive is not needed of them.
func TestPageStandsAlone(t *testing.T) {
	var page bytes.Buffer
	if err := report.WriteHTML(&page, suites.All(), recorded(t)); err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{"<script", "<link", "@import", "url(", "src=", "http:", "https:", "NaN", "ZgotmplZ", "targets met"} {
		if strings.Contains(page.String(), bad) {
			t.Errorf("the page contains %q", bad)
		}
	}
	for _, needed := range []string{"AMD EPYC", "2 cores", "go1.", "prefers-color-scheme: dark", "@media print", `name="viewport"`, "go run -C bench ."} {
		if !strings.Contains(page.String(), needed) {
			t.Errorf("the page lacks %q", needed)
		}
	}
	drawings := regexp.MustCompile(`(?s)<svg.*?</svg>`).FindAllString(page.String(), -1)
	if len(drawings) < 15 {
		t.Errorf("%d drawings only", len(drawings))
	}
	for _, drawing := range drawings {
		decoder := xml.NewDecoder(strings.NewReader(drawing))
		for {
			if _, err := decoder.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Errorf("%v in %.80s", err, drawing)
				break
			}
		}
	}
}

// TestPageSaysWhatIsCompared: the page explains every way to share that has a
// figure.
func TestPageSaysWhatIsCompared(t *testing.T) {
	explained := make(map[string]bool)
	for _, way := range rivals.Ways {
		explained[way.Name] = true
	}
	for _, s := range suites.All() {
		if s.Name == "pooling" || s.Name == "slab" {
			continue // compare other things, and say what
		}
		for _, c := range s.Cases {
			for _, rival := range c.Rivals {
				if !explained[rival.Name] && s.FindPromise(rival.Name) == nil && !strings.Contains(s.About, rival.Name) {
					t.Errorf("%s, %s: nothing says what %s is", s.Name, c.Name, rival.Name)
				}
			}
		}
	}
}

// A plot is drawn of what was measured: here of ten seconds of a minute, and of the
// line through three points.
func TestPlotsShowSeriesAndLines(t *testing.T) {
	run := new(results.Run)
	memory := map[string]float64{"p99.9-ns": 1e6}
	for second := range 10 {
		memory[fmt.Sprintf("rss-%02ds-bytes", second)] = float64((second + 1) * 50 << 20)
	}
	run.Get("steady", "object=200MiB", "PoolSwap").Add(1, memory)
	var page bytes.Buffer
	if err := report.WriteHTML(&page, suites.All(), run); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		title        string
		lines, marks int // points that the line goes through, and that have a mark
		label, end   string
	}{
		{"Memory of the process (RSS) over time", 10, 1, ">500 MiB</text>", "PoolSwap, 9: 500 MiB"},
	} {
		drawing := regexp.MustCompile(`(?s)<svg[^>]*aria-label="` + regexp.QuoteMeta(c.title) + `".*?</svg>`).FindString(page.String())
		line := regexp.MustCompile(`<path d="([^"]*)" class="line s0"/>`).FindStringSubmatch(drawing)
		if line == nil {
			t.Errorf("%s: no line in %q", c.title, drawing)
			continue
		}
		if got := len(regexp.MustCompile("[ML]").FindAllString(line[1], -1)); got != c.lines {
			t.Errorf("%s: the line goes through %d points, want %d: %s", c.title, got, c.lines, line[1])
		}
		if got := strings.Count(drawing, `class="mark s0"`); got != c.marks {
			t.Errorf("%s: %d marks, want %d", c.title, got, c.marks)
		}
		if !strings.Contains(drawing, c.label) || !strings.Contains(drawing, c.end) {
			t.Errorf("%s: %q or %q is missing: %s", c.title, c.label, c.end, drawing)
		}
	}
	if strings.Contains(page.String(), "NaN") {
		t.Error("the page contains NaN")
	}
}

func TestBusyMachineIsToldFromAQuietOne(t *testing.T) {
	for _, c := range []struct {
		others float64
		want   string
	}{
		{-1, ""},
		{0.013, "1% of the processors' time went to other programs\n"},
		{0.2, "20% of the processors' time went to other programs: times are too long, and ratios uncertain\n"},
	} {
		if got := report.Others(&results.Run{Others: c.others}); got != c.want {
			t.Errorf("%v: %q, want %q", c.others, got, c.want)
		}
	}
}

func TestHeadlineThatMayBeChanceSaysSo(t *testing.T) {
	for _, c := range []struct {
		ours   []float64
		chance bool
	}{
		{[]float64{5, 5.1, 5.2, 5.3, 5.4, 5.5}, false},
		{[]float64{5, 9, 12, 21, 30, 16}, true},
	} {
		run := new(results.Run)
		for i, ns := range c.ours {
			run.Get("read", "procs=1/goroutines=1/writer=none", "PoolSwap").Add(1, map[string]float64{"ns/op": ns})
			run.Get("read", "procs=1/goroutines=1/writer=none", "RWMutexRef").Add(1, map[string]float64{"ns/op": 20 + float64(i)/10})
		}
		var page bytes.Buffer
		if err := report.WriteHTML(&page, suites.All(), run); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(page.String(), "when one goroutine reads") {
			t.Errorf("%v: no headline", c.ours)
		}
		if got := strings.Contains(page.String(), "the difference may be chance"); got != c.chance {
			t.Errorf("%v against 20: chance is %v", c.ours, got)
		}
	}
}

func TestNothingMeasured(t *testing.T) {
	run := &results.Run{Partial: true}
	path, err := report.Write(t.TempDir(), suites.All(), run)
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(page, []byte("did not come to its end")) || bytes.Contains(page, []byte("NaN")) {
		t.Error("the page of an interrupted run does not say so, or shows numbers that are none")
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
		{0.0638, "gc-share", "6.38 %"},
	} {
		if got := report.Format(c.value, c.unit); got != c.want {
			t.Errorf("%v %s is shown as %q, want %q", c.value, c.unit, got, c.want)
		}
	}
}
