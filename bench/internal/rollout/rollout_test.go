package rollout

import (
	"errors"
	"io/fs"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/poolswap/poolswap/bench/internal/runner"
)

// TestMain removes the programs that tests have built.
func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "rollout-")
	if err != nil {
		panic(err)
	}
	_ = os.Setenv("TMPDIR", dir)
	status := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(status)
}

func TestEachMeasurementHasItsFigures(t *testing.T) {
	const n, size = 3, 300 << 10
	publication := []string{"last-ns", "server-cpu-ns", "server-rss-bytes"}
	for _, c := range []struct {
		name    string
		measure func() (runner.Sample, error)
		units   []string
	}{
		{"fleet", func() (runner.Sample, error) { return Fleet(n, size, false) }, append(publication, "publish-ns")},
		{"fleet with TLS", func() (runner.Sample, error) { return Fleet(n, size, true) }, append(publication, "publish-ns")},
		{"files", func() (runner.Sample, error) { return Files(n, size, false) }, publication},
		{"files with TLS", func() (runner.Sample, error) { return Files(n, size, true) }, publication},
		{"followers", func() (runner.Sample, error) { return Followers(n, false, time.Second) }, append(publication, "idle-cpu-ns", "known-ns")},
		{"deltas", func() (runner.Sample, error) {
			return Deltas(Changes{Rows: 1000, Each: 2, Updates: 3}, 2, n-2)
		}, append(publication, "p50-ns", "p95-ns", "fetched-bytes", "stored-bytes", "whole-ns", "whole-bytes", "compiled-bytes")},
	} {
		t.Run(c.name, func(t *testing.T) {
			sample, err := c.measure()
			if err != nil {
				t.Fatal(err)
			}
			if sample.Iterations != n {
				t.Errorf("%d replicas, want %d", sample.Iterations, n)
			}
			for _, unit := range c.units {
				cpu := strings.HasSuffix(unit, "cpu-ns") // its clock is coarse
				if value, ok := sample.Values[unit]; !ok && (runtime.GOOS == "linux" || !strings.HasPrefix(unit, "server-")) || value < 0 || value == 0 && !cpu {
					t.Errorf("%v %s", value, unit)
				}
			}
		})
	}
}

func TestBlockDiff(t *testing.T) {
	table := random(10 * block)
	longer := slices.Concat(table[:3*block+7], []byte{1}, table[3*block+7:])
	for name, c := range map[string]struct {
		b    []byte
		want int
	}{"the same": {table, 0}, "moved": {table[2*block:], 0}, "another": {longer, block + 1}, "shorter": {table[:block-1], block - 1}, "a byte before": {append([]byte{1}, table...), 1}} {
		if got := blockDiff(table, c.b); got != c.want {
			t.Errorf("%s: %d bytes, want %d", name, got, c.want)
		}
	}
}

func TestServersLeaveNothingBehind(t *testing.T) {
	d, err := startFleetd(false)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.publish([]byte("content")); err != nil {
		t.Fatal(err)
	}
	d.close()
	if _, ok := runner.ProcessorTime(d.command.Process.Pid); ok {
		t.Error("the server runs on")
	}
	if _, err := os.Stat(d.dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("its files are left: %v", err)
	}
}
