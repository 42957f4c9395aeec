package main

import (
	"os"
	"runtime"
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

// resultOf returns a result of n reads, one of which took long.
func resultOf(n uint64, most, others time.Duration) result {
	r := result{Took: 6 * time.Second, Replacements: 120, Due: 120}
	r.Reads.add(most)
	r.Reads.Counts[bucket(others)] += n - 1
	r.Reads.Total = n
	return r
}

func TestOutputIsATableOfEightyColumns(t *testing.T) {
	pooled := resultOf(74_461_234, 1_234_567, 1215)
	pooled.Allocated, pooled.PeakMemory = 2640, 34_800_000
	pointed := resultOf(5_996_994, 99_950_000, 98_303)
	pointed.Allocated, pointed.Collections, pointed.PeakMemory = 120*8_003_276, 42, 66_900_000
	inPlace := resultOf(3600, 20*time.Second, 991) // the 9,999th of 10,000 is the last
	inPlace.Replacements, inPlace.PeakMemory = 1, 999_400_000
	twoTables := resultOf(6_000_000_000_000, 999_500_000, 999_500_000)
	twoTables.Allocated, twoTables.Collections, twoTables.PeakMemory = 120*999_499, 12_000, 64_000_000_000
	const want = `
                                 99.99 %   slowest   each replacement      peak
                       reads/s  of reads      read  allocates     GCs    memory
poolswap                12.4 M   1.22 µs   1.23 ms       22 B    0.00   34.8 MB
atomic.Pointer           999 k   98.3 µs    100 ms    8.00 MB    0.35   66.9 MB
RWMutex, in place          600    20.0 s    20.0 s        0 B    0.00    999 MB
RWMutex, two tables     1000 G    1.00 s    1.00 s     999 kB  100.00   64.0 GB

6,000,080,461,828 answers checked, each of one version. 361 of 480 replacements.
RWMutex, in place: only 1 of 120 replacements.
A read looks up and checks one address. Lower is better, except for reads/s.
Next: "make bench" for the cost of each read, "make demo-fleet" for three hosts.
`
	var out strings.Builder
	own := usage{time.Second, time.Duration(runtime.GOMAXPROCS(0)) * time.Second}
	if err := printTable(&out, ways, []result{pooled, pointed, inPlace, twoTables}, own); err != nil {
		t.Error(err)
	}
	if out.String() != want {
		t.Errorf("have\n%swant\n%s", out.String(), want)
	}
	if err := printHead(&out, 16_777_216, 59*time.Minute+59_999*time.Millisecond); err != nil {
		t.Error(err)
	}
	wantNarrow(t, out.String())
}

func TestBusyMachineShows(t *testing.T) {
	procs := runtime.GOMAXPROCS(0)
	for percent, want := range map[int]string{
		50: "\nThe demo had 50 % of the processors: is the machine busy?\nA read looks",
		81: " replacements.\nA read looks",
	} {
		var out strings.Builder
		had := time.Duration(procs*percent) * (time.Second / 100)
		if err := printTable(&out, ways[:1], []result{resultOf(2, 1, 1)}, usage{time.Second, had}); err != nil || !strings.Contains(out.String(), want) {
			t.Errorf("%d %%: %v\n%s", percent, err, out.String())
		}
	}
}

func TestWrongAnswersAreAnError(t *testing.T) {
	results := []result{resultOf(5000, 1, 1), resultOf(7, 1, 1), resultOf(8, 1, 1)}
	results[0].Wrong, results[2].Wrong = 1234, 8
	var out strings.Builder
	err := printTable(&out, ways[:3], results, usage{})
	if err == nil || err.Error() != "answers of more than one version, or of another range: 1,234 of poolswap; 8 of RWMutex, in place" {
		t.Error(err)
	}
	if !strings.Contains(out.String(), "\n5,015 answers checked, 1,242 were wrong. ") {
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
