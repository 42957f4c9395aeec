package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/poolswap/poolswap/internal/test/buildflag"
)

const iterations = 10_000

// runRows runs the command and returns its rows by "work, way".
func runRows(t *testing.T, arguments ...string) map[string]result {
	t.Helper()
	var out strings.Builder
	if err := run(append([]string{"-n", fmt.Sprint(iterations)}, arguments...), &out, &out); err != nil {
		t.Fatal(err)
	}
	rows := map[string]result{}
	for _, line := range strings.Split(strings.TrimSpace(out.String()), "\n")[3:] {
		line = strings.ReplaceAll(line, "no pool", "no-pool")
		var r result
		if _, err := fmt.Sscan(line, &r.work, &r.way, &r.mallocs, &r.bytes, &r.bytesPerIter, &r.collections); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		rows[r.work+", "+r.way] = r
	}
	return rows
}

func TestAllocationsOfEachWay(t *testing.T) {
	rows := runRows(t)
	if len(rows) != len(works)*len(wayNames) {
		t.Errorf("%d rows of %d works in %d ways", len(rows), len(works), len(wayNames))
	}
	// Some slack for allocations of the runtime meanwhile, and, under the race
	// detector, for the one object in four that sync.Pool drops.
	const few, most = iterations / 2, iterations * 9 / 10
	for _, c := range []struct {
		row         string
		least, most uint64
	}{
		{"value, no-pool", 0, few}, // on the stack
		{"value, sync.Pool", 0, few},
		{"value, typedpool", 0, few},
		{"data, no-pool", iterations, iterations + few},
		{"data, sync.Pool", 0, few},
		{"data, typedpool", 0, few},
		{"buffer, no-pool", iterations, iterations + few},
		{"buffer, sync.Pool", 0, most}, // a dropped buffer costs two
		{"buffer, typedpool", 0, most},
		{"log-line, no-pool", 2 * iterations, 2*iterations + few},
		{"log-line, sync.Pool", iterations, iterations + most}, // the text of Format
		{"log-line, typedpool", 0, most},
	} {
		if got := rows[c.row].mallocs; got < c.least || got > c.most {
			t.Errorf("%s: %d allocations in %d iterations, want %d to %d", c.row, got, iterations, c.least, c.most)
		}
	}
	more := 100 // of other goroutines
	if buildflag.ASan() {
		more += 2048
	}
	if got := int(rows["data, no-pool"].bytesPerIter); got < 8192 || got > 8192+more {
		t.Errorf("a struct of 1024 integers takes %d bytes, want 8192", got)
	}
}

func TestProfileOfOneWork(t *testing.T) {
	profile := filepath.Join(t.TempDir(), "mem.prof")
	rows := runRows(t, "-work", "data", "-way", "no pool", "-memprofile", profile)
	if len(rows) != 1 {
		t.Errorf("%d rows, want 1", len(rows))
	}
	if content, err := os.ReadFile(profile); err != nil || len(content) == 0 {
		t.Errorf("a profile of %d bytes, %v", len(content), err)
	}
}

func TestWrongArgumentsAreRefused(t *testing.T) {
	for _, c := range []struct {
		arguments []string
		want      string
	}{
		{[]string{"-n", "0"}, "at least 1 iteration"},
		{[]string{"-n", "many"}, "invalid value"},
		{[]string{"-work", "nothing"}, "there are the works value, data"},
		{[]string{"-way", "lazy"}, "the ways no pool, sync.Pool, typedpool"},
		{[]string{"data"}, `unexpected argument "data"`},
	} {
		var out strings.Builder
		if err := run(c.arguments, &out, &out); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, want %q", c.arguments, err, c.want)
		}
	}
}

func BenchmarkWork(b *testing.B) {
	for _, w := range works {
		for i, way := range wayNames {
			b.Run("work="+w.name+"/way="+strings.ReplaceAll(way, " ", "-"), func(b *testing.B) {
				b.ReportAllocs()
				w.ways[i](b.N)
			})
		}
	}
}
