package main

import (
	"os"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

func wantNarrow(t *testing.T, text string) {
	t.Helper()
	for line := range strings.SplitSeq(text, "\n") {
		if n := utf8.RuneCountInString(line); n > lineWidth {
			t.Errorf("%d columns: %s", n, line)
		}
	}
}

func TestOutputIsATableOfEightyColumns(t *testing.T) {
	results := []result{
		{"poolswap", 74_461_234, 0, 6 * time.Second, 1234, 1_234_567, 120, 120, 2640, 0, 34_800_000},
		{"atomic.Pointer", 999_499, 0, time.Second, 99_949, 99_950_000, 20, 20, 160_065_536, 7, 66_900_000},
		{"RWMutex, in place", 600, 0, time.Second, 999, 20 * time.Second, 1, 20, 0, 0, 999_400_000},
		{"RWMutex, two tables", 6_000_000_000_000, 0, 6 * time.Second, 999_500_000, 999_500_000, 120, 120, 120 * 999_499, 12_000, 64_000_000_000},
	}
	const want = `poolswap                12.4 M   1.23 µs   1.23 ms       22 B    0.00   34.8 MB
atomic.Pointer           999 k   99.9 µs    100 ms    8.00 MB    0.35   66.9 MB
RWMutex, in place          600    999 ns    20.0 s        0 B    0.00    999 MB
RWMutex, two tables     1000 G    1.00 s    1.00 s     999 kB  100.00   64.0 GB

6,000,075,461,333 answers checked, each of one version. 261 of 280 replacements.
A read is one address looked up, checked and timed: less is better, but reads/s.
Next: "make bench" for the cost of each read, "make demo-fleet" for three hosts.
`
	var out strings.Builder
	for _, r := range results {
		printRow(&out, r)
	}
	if err := printTail(&out, results); err != nil {
		t.Error(err)
	}
	if out.String() != want {
		t.Errorf("have\n%swant\n%s", out.String(), want)
	}
	out.Reset()
	printHead(&out, 16_777_216, 59*time.Minute+59_999*time.Millisecond)
	wantNarrow(t, out.String()+want)
}

func TestWrongAnswersAreAnError(t *testing.T) {
	var out strings.Builder
	err := printTail(&out, []result{{Way: "one", Reads: 5000, Wrong: 1234}, {Way: "two", Reads: 7}, {Way: "three", Reads: 8, Wrong: 8}})
	if err == nil || err.Error() != "answers of more than one version, or of another range: 1,234 of one; 8 of three" {
		t.Error(err)
	}
	if !strings.HasPrefix(out.String(), "\n5,015 answers checked, 1,242 were wrong. ") {
		t.Error(out.String())
	}
}

func TestLongNamesOfProcessorsAreCut(t *testing.T) {
	for _, name := range []string{"", "x", strings.Repeat("Xeon ", 30)} {
		line := machine(name)
		if wantNarrow(t, line); !strings.HasPrefix(line, name[:min(len(name), 20)]) || strings.HasPrefix(line, ",") {
			t.Error(line)
		}
	}
}

func TestProgressLineHidesTheOneBefore(t *testing.T) {
	const each = 6 * time.Second
	for _, w := range ways {
		for turn := range ways {
			for _, elapsed := range []time.Duration{0, each / 3, each, 2 * each} {
				line := progressLine(w.name, turn+1, len(ways), each, elapsed)
				if utf8.RuneCountInString(line) != lineWidth-1 {
					t.Errorf("%q", line)
				}
			}
		}
	}
	want := "[#########...............]  poolswap (2 of 4), 15 s left"
	if line := progressLine("poolswap", 2, 4, each, each/2); strings.TrimRight(line, " ") != want {
		t.Errorf("%q", line)
	}
}

func TestProgressNeedsATerminal(t *testing.T) {
	file, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	p := newProgress(file, 1, time.Hour)
	p.begin("poolswap")
	p.end()
	if info, err := file.Stat(); err != nil || info.Size() != 0 {
		t.Error(info.Size(), err)
	}
}
