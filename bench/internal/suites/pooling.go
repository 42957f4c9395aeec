package suites

import (
	"bytes"
	"io"
	"sync"
	"time"

	"github.com/poolswap/poolswap/bench/internal/runner"
	"github.com/poolswap/poolswap/typedpool"
)

// pooling is the worth of pools of small and short-lived objects.
func pooling() runner.Suite {
	s := runner.Suite{
		Name:  "pooling",
		Title: "Pools of short-lived objects",
		About: "log-line writes a timestamped key=value line. struct8k uses a struct of 8 KiB for a moment. small uses 10,000 small objects one after the " +
			"other in each operation; small-gc uses 100 and forces a garbage collection after each. Go1.12 is sync.Pool as it was up to " +
			"that version, written afresh. The times published for small-gc are of 10,000 objects, divided by 100.",
		Time:     40 * time.Millisecond,
		FullTime: 150 * time.Millisecond,
		Columns:  runner.Columns("ns/op", "time/op", "B/op", "B/op", "allocs/op", "allocs/op"),
	}
	add := func(name, title, ours string, setup time.Duration, rivals ...runner.Rival) {
		s.Cases = append(s.Cases, runner.Case{Name: "work=" + name, Ours: ours, Setup: setup, Rivals: rivals})
		s.Charts = append(s.Charts, runner.Chart{Title: title, Points: []runner.Point{{Label: "time", Case: "work=" + name, Unit: "ns/op"}}})
	}
	add("log-line", "A log line", "typedpool", 0,
		pooled("NoPool", logNoPool, 183.2, 72, 2), pooled("Wrapper", logWrapper, 155.2, 8, 1), pooled("typedpool", logTypedpool))
	add("struct8k", "A struct of 8 KiB", "typedpool", 0,
		pooled("NoPool", structNoPool, 705.4, 8192, 1), pooled("sync.Pool", structSyncPool, 7.455, 0, 0), pooled("typedpool", structTypedpool))
	add("small", "10,000 small objects", "typedpool", 0, smallRivals(10_000, false, published(3.02e6, 160e3), published(1.36e6, 1.05e3))...)
	add("small-gc", "100 small objects, a collection after each", "poolswap", 150*time.Millisecond, smallRivals(100, true, published(9.93e6), published(10.3e6))...)
	return s
}

// published are values of the published documents: time, bytes, allocations.
func published(values ...float64) map[string]float64 {
	by := make(map[string]float64)
	for i, value := range values {
		by[[]string{"ns/op", "B/op", "allocs/op"}[i]] = value
	}
	return by
}

// pooled is a rival that does its operation n times.
func pooled(name string, operation func(n int), values ...float64) runner.Rival {
	const block = 256
	return runner.Rival{Name: name, Published: published(values...), Sample: func(config runner.Config) (runner.Sample, error) {
		return runner.Blocks(config.Time, block, func() { operation(block) }), nil
	}}
}

// lineTime is the time in each log line: formatting it is measured, asking the
// clock is not.
var lineTime = time.Date(2024, 2, 29, 12, 34, 56, 0, time.UTC)

// lineOut is where log lines go; an interface, as in a logger.
var lineOut = io.Discard

const linePair = " path=/search?q=flowers\n"

func logNoPool(n int) {
	for range n {
		var b bytes.Buffer
		b.WriteString(lineTime.Format(time.RFC3339))
		b.WriteString(linePair)
		_, _ = lineOut.Write(b.Bytes())
	}
}

// wrapper is the typed sync.Pool that programs write by hand.
type wrapper[T any] struct{ pool sync.Pool }

func (w *wrapper[T]) Get() T  { return w.pool.Get().(T) }
func (w *wrapper[T]) Put(x T) { w.pool.Put(x) }

var wrapped = wrapper[*bytes.Buffer]{sync.Pool{New: func() any { return new(bytes.Buffer) }}}

func logWrapper(n int) {
	for range n {
		b := wrapped.Get()
		b.Reset()
		b.WriteString(lineTime.Format(time.RFC3339))
		b.WriteString(linePair)
		_, _ = lineOut.Write(b.Bytes())
		wrapped.Put(b)
	}
}

var lineBuffers typedpool.Buffers

// logTypedpool writes the time into the free space of the buffer.
func logTypedpool(n int) {
	for range n {
		b := lineBuffers.Get()
		b.Write(lineTime.AppendFormat(b.AvailableBuffer(), time.RFC3339))
		b.WriteString(linePair)
		_, _ = lineOut.Write(b.Bytes())
		lineBuffers.Put(b)
	}
}

// struct8k is a struct of 8 KiB.
type struct8k struct{ values [1024]int64 }

var (
	kept        *struct8k // makes an object escape to the heap
	structSync  = sync.Pool{New: func() any { return new(struct8k) }}
	structTyped typedpool.Pool[struct8k]
)

func structNoPool(n int) {
	for range n {
		kept = new(struct8k)
		kept.values[0] = 42
	}
}

func structSyncPool(n int) {
	for range n {
		s := structSync.Get().(*struct8k)
		s.values[0] = 42
		kept = s
		structSync.Put(s)
	}
}

func structTypedpool(n int) {
	for range n {
		s := structTyped.Get()
		s.values[0] = 42
		kept = s
		structTyped.Put(s)
	}
}
