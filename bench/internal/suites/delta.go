package suites

import (
	"fmt"
	"runtime"
	"time"

	"github.com/poolswap/poolswap/bench/internal/keyed"
	"github.com/poolswap/poolswap/bench/internal/runner"
)

// delta is the cost of changing a few keys of a large map.
func delta() runner.Suite {
	s := runner.Suite{
		Name:  "delta",
		Title: "Some keys of a map changed, by number of keys and of changes",
		About: "One writer changes keys of a map of string to int64. An operation is an update. " +
			"Keys have 16 bytes: strings, as names and addresses are, cost a hash and a comparison that numbers do not. Updates set keys that exist, each equally often, so that the map keeps its size. " +
			"Readers see whole versions with these: Oplog is oplog.Map, Refill fills a recycled map from a slice, CloneAtomicPtr is maps.Clone and an atomic.Pointer, " +
			"Persistent is a hash trie behind an atomic.Pointer, the Map of github.com/benbjohnson/immutable. " +
			"RWMutexMap changes keys in place: readers wait. " +
			"PlainTwice makes the changes to two plain maps, unshared: the floor of Oplog, which has two maps.",
		Time:     20 * time.Millisecond,
		FullTime: 80 * time.Millisecond,
		Columns:  runner.Columns("ns/op", "time/op", "cpu-ns/op", "CPU time/op", "B/op", "B/op", "allocs/op", "allocs/op"),
	}
	for _, size := range []struct {
		keys    int
		name    string
		changes []int
	}{{1_000, "1k", []int{10, 1000}}, {10_000, "10k", []int{10}}, {100_000, "100k", []int{1, 10, 100, 1000, 10_000}}, {1_000_000, "1M", []int{10}}} {
		for _, changes := range size.changes {
			s.Cases = append(s.Cases, runner.Case{
				Name: fmt.Sprintf("changes=%d/keys=%s", changes, size.name), Ours: "Oplog", Setup: time.Duration(5+size.keys/1_000) * time.Millisecond,
				Rivals: each(keyed.Names, func(config runner.Config, rival string) (runner.Sample, error) {
					return sampleDelta(config, rival, config.Size(size.keys), config.Size(changes))
				}),
			})
		}
	}
	s.Charts = []runner.Chart{
		{Title: "Time per update of 10 changes, by number of keys", Axis: "keys", Log: true, Points: points(&s, "ns/op", "keys", "changes=10/")},
		{Title: "Time per update of a map of 100,000 keys, by number of changes", Axis: "changes", Log: true, Points: points(&s, "ns/op", "changes", "keys=100k")},
	}
	return s
}

// sampleDelta makes updates of so many changes.
func sampleDelta(config runner.Config, rival string, keys, changes int) (runner.Sample, error) {
	data := keyed.NewData(keys)
	table, err := keyed.New(rival, data)
	at := 0
	update := func() {
		if at+changes > len(data.Changes) {
			at = 0
		}
		if err == nil {
			err = table.Update(at, at+changes)
		}
		at += changes
	}
	if err == nil {
		// A log grows until it is a bit more than twice as long as it keeps.
		for range 3*(table.Keep+changes)/changes + 1 {
			update()
		}
	}
	runtime.GC()
	batch := 1 // updates between two looks at the clock, which take up to a hundredth of it
	work := func(w *runner.Stopwatch) (operations int) {
		for w.Running() && err == nil {
			for range batch {
				update()
			}
			operations += batch
		}
		return operations
	}
	warm := runner.Serial(config.Time/4, work)
	batch = min(max(1, int(float64(config.Time)/100/warm.Values["ns/op"])), 64)
	sample := runner.Serial(config.Time, work)
	return sample, err
}
