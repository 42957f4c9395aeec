package suites

import (
	"fmt"
	"runtime"
	"runtime/debug"
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
			"PlainTwice makes the changes to two plain maps, unshared: the floor of Oplog, which has two maps. " +
			"With 1M keys the collector starts later than usual, so that Persistent and CloneAtomicPtr pay less for it than in a program.",
		Time:     20 * time.Millisecond,
		FullTime: 80 * time.Millisecond,
		Columns:  runner.Columns("ns/op", "time/op", "cpu-ns/op", "CPU time/op", "B/op", "B/op", "allocs/op", "allocs/op"),
	}
	for _, size := range []struct {
		keys int
		name string
	}{{1_000, "1k"}, {10_000, "10k"}, {100_000, "100k"}, {1_000_000, "1M"}} {
		for _, changes := range []int{1, 10, 100, 1000, size.keys / 10} {
			name := fmt.Sprintf("changes=%d/keys=%s", changes, size.name)
			if s.Find(name) != nil {
				continue // a tenth of the keys is one of the others
			}
			s.Cases = append(s.Cases, runner.Case{
				Name: name, Ours: "Oplog", Setup: time.Duration(5+size.keys/3_000) * time.Millisecond,
				Rivals: each(keyed.Names, func(config runner.Config, rival string) (runner.Sample, error) {
					return sampleDelta(rival, config, config.Size(size.keys), config.Size(changes))
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

// updated is a table, and where the next update begins.
type updated struct {
	*keyed.Table

	next int
	took time.Duration // an update of the last sample
}

// tables are those of the samples before in this case: to build one takes longer
// than a sample. Samples are taken one at a time.
var tables struct {
	data    *keyed.Data
	changes int
	of      map[string]*updated

	allocated, live uint64 // in bytes, when collectGarbage ran last
}

// manyKeys are so many that a garbage collection of all tables takes longer than
// the samples of a round. The collector starts later then: rivals that allocate
// pay less for it than in a program.
const manyKeys = 1_000_000

func tableOf(rival string, keys, changes int) (*updated, error) {
	if tables.data == nil || len(tables.data.Keys) != keys || tables.changes != changes {
		tables.of, tables.data = make(map[string]*updated), nil // the old ones first
		tables.data, tables.changes = keyed.NewData(keys), changes
		if keys >= manyKeys {
			debug.SetGCPercent(400)
		}
	}
	if t := tables.of[rival]; t != nil {
		return t, nil
	}
	made, err := keyed.New(rival, tables.data)
	if err != nil {
		return nil, err
	}
	t := &updated{Table: made}
	tables.of[rival] = t
	// A log grows until it is a bit more than twice as long as it keeps.
	for range 3*(t.Keep+changes)/changes + 1 {
		if err := t.update(); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// update makes the next update.
func (t *updated) update() error {
	n := tables.changes
	if t.next+n > len(tables.data.Changes) {
		t.next = 0
	}
	t.next += n
	return t.Update(t.next-n, t.next)
}

func sampleDelta(rival string, config runner.Config, keys, changes int) (runner.Sample, error) {
	t, err := tableOf(rival, keys, changes)
	if err != nil {
		return runner.Sample{}, err
	}
	collectGarbage(keys)
	batch := 1 // updates between two looks at the clock, which take up to a hundredth of it
	work := func(w *runner.Stopwatch) (operations int) {
		for w.Running() && err == nil {
			for range batch {
				if err = t.update(); err != nil {
					break
				}
			}
			operations += batch
		}
		return operations
	}
	if t.took < config.Time { // one longer update would warm no cache for the next
		warm := runner.Serial(config.Time/4, work)
		batch = min(max(1, int(float64(config.Time)/100/warm.Values["ns/op"])), 64)
	}
	sample := runner.Serial(config.Time, work)
	t.took = time.Duration(sample.Values["ns/op"])
	return sample, err
}

// collectGarbage sees to it that garbage of other rivals is none of the next one's
// cost. It leaves what is too little to make the runtime collect.
func collectGarbage(keys int) {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	most := tables.live / 16
	if keys >= manyKeys {
		most = 3 * tables.live
	}
	if m.TotalAlloc-tables.allocated <= most {
		return
	}
	runtime.GC()
	runtime.ReadMemStats(&m)
	tables.allocated, tables.live = m.TotalAlloc, m.HeapAlloc
}
