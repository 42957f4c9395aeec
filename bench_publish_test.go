package poolswap_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/poolswap/poolswap"
)

// BenchmarkPublishRatio alternates, in one run, between Publish and what it is
// made of, GetNew and Update, and between Version and a pointer's Load. It
// reports the median time of each, and what the project promises of them. One
// iteration is one turn of each.
func BenchmarkPublishRatio(b *testing.B) {
	const calls, loads = 1000, 100_000
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	container := func() *poolswap.Container[table, *table] { return newTableContainer(poolswap.Options[table]{}) }
	updated, published, read := container(), container(), container()
	pointer := newPointer()
	fill := func(next, _ *table) error {
		next.value++
		return nil
	}
	turns := []struct {
		name string
		per  int
		run  func()
	}{
		{"GetNew+Update", calls, func() {
			for range calls {
				next := updated.GetNew()
				next.value++
				updated.Update(next)
			}
		}},
		{"Publish", calls, func() {
			for range calls {
				if _, err := published.Publish(ctx, fill); err != nil {
					b.Fatal(err)
				}
			}
		}},
		{"Version", loads, func() { readVersion(read, loads) }},
		{"Pointer", loads, func() { readPointer(pointer, loads) }},
	}
	times := make(map[string][]float64)
	for b.Loop() {
		for _, turn := range turns {
			begun := time.Now()
			turn.run()
			times[turn.name] = append(times[turn.name], float64(time.Since(begun).Nanoseconds())/float64(turn.per))
		}
	}
	median := func(name string) float64 {
		slices.Sort(times[name])
		return times[name][len(times[name])/2]
	}
	b.ReportMetric(0, "ns/op") // leave it out: an iteration is not a call
	for _, turn := range turns {
		b.ReportMetric(median(turn.name), turn.name+"-ns")
	}
	b.ReportMetric(median("Publish")-median("GetNew+Update"), "Publish-beyond-Update-ns")
	b.ReportMetric(median("Version")/median("Pointer"), "Version/Pointer")
}

func readVersion(c *poolswap.Container[table, *table], n int) {
	sum := uint64(0)
	for range n {
		sum += c.Version()
	}
	sink.Add(int64(sum))
}
