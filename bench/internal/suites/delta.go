package suites

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/poolswap/poolswap/bench/internal/keyed"
	"github.com/poolswap/poolswap/bench/internal/measure"
)

// delta is what it costs to change a few keys of a large map.
func delta() measure.Suite {
	s := measure.Suite{
		Name:  "delta",
		Title: "Some keys of a map changed, by number of keys and of changes",
		About: "One writer changes keys of a map of string to int64. An operation is an update; with goroutines=, it is a lookup of a random key by all goroutines together. " +
			"Keys have 16 bytes: strings, as names and addresses are, cost a hash and a comparison that numbers do not. Updates set keys that exist, each equally often, so that the map keeps its size. " +
			"Readers see whole versions with these: Oplog is oplog.Map, whose readers have a Reader; Oplog.Get is its method Get, which counts the reader. " +
			"Refill fills a recycled map from a slice, CopyRecycled fills it from the current map. CloneAtomicPtr is maps.Clone and an atomic.Pointer. " +
			"Persistent is a hash trie behind an atomic.Pointer, the Map of github.com/benbjohnson/immutable. " +
			"Readers see half-made updates with these, or wait: sync.Map, xsync.Map of github.com/puzpuzpuz/xsync and RWMutexMap change keys in place. " +
			"PlainTwice makes the changes to two plain maps, unshared: the floor of Oplog, which has two maps. PlainMap is one. " +
			"With 1M keys the collector starts later than usual, so that Persistent and CloneAtomicPtr pay less for it than in a program.",
		Time:     20 * time.Millisecond,
		FullTime: 80 * time.Millisecond,
		Columns: []measure.Column{
			{Unit: "ns/op", Title: "time/op"},
			{Unit: "cpu-ns/op", Title: "CPU time/op"},
			{Unit: "B/op", Title: "B/op"},
			{Unit: "allocs/op", Title: "allocs/op"},
		},
	}
	byKeys := measure.Chart{Kind: measure.Lines, Axis: "keys", Title: "Time per update of 10 changes, by number of keys"}
	byChanges := measure.Chart{Kind: measure.Lines, Axis: "changes", Title: "Time per update of a map of 100,000 keys, by number of changes"}
	lookups := measure.Chart{Title: "Time per lookup in a map of 100,000 keys"}
	for _, keys := range []int{1_000, 10_000, 100_000, 1_000_000} {
		for _, changes := range []int{1, 10, 100, 1000, keys / 10} {
			name := fmt.Sprintf("changes=%d/keys=%s", changes, short(keys))
			if s.Find(name) != nil {
				continue // a tenth of the keys is one of the others
			}
			s.Cases = append(s.Cases, deltaCase(name, keys, updaters, func(config measure.Config, rival string) (measure.Sample, error) {
				return sampleDelta(rival, config, config.Size(keys), config.Size(changes))
			}))
			if changes == 10 {
				byKeys.Points = append(byKeys.Points, measure.Point{Label: short(keys), Case: name, Unit: "ns/op"})
			}
			if keys == 100_000 {
				byChanges.Points = append(byChanges.Points, measure.Point{Label: fmt.Sprint(changes), Case: name, Unit: "ns/op"})
			}
		}
	}
	for _, keys := range []int{1_000, 100_000} {
		for _, goroutines := range []int{1, 2} {
			name := fmt.Sprintf("goroutines=%d/keys=%s", goroutines, short(keys))
			s.Cases = append(s.Cases, deltaCase(name, keys, lookers, func(config measure.Config, rival string) (measure.Sample, error) {
				return sampleLookup(rival, config, config.Size(keys), goroutines)
			}))
			if keys == 100_000 {
				lookups.Points = append(lookups.Points, measure.Point{Label: fmt.Sprintf("goroutines: %d", goroutines), Case: name, Unit: "ns/op"})
			}
		}
	}
	s.Charts = []measure.Chart{byKeys, byChanges, lookups}
	return s
}

var (
	// Those that allocate come last, so that one collection in each round is enough.
	updaters = []string{"Oplog", "Refill", "CopyRecycled", "RWMutexMap", "PlainTwice", "xsync.Map", "sync.Map", "Persistent", "CloneAtomicPtr"}
	lookers  = []string{"Oplog", "Oplog.Get", "PlainMap", "CloneAtomicPtr", "Persistent", "sync.Map", "xsync.Map", "RWMutexMap"}
)

func deltaCase(name string, keys int, rivals []string, sample func(measure.Config, string) (measure.Sample, error)) measure.Case {
	c := measure.Case{Name: name, Ours: "Oplog", Setup: time.Duration(5+keys/3_000) * time.Millisecond}
	for _, rival := range rivals {
		c.Rivals = append(c.Rivals, measure.Rival{Name: rival, Sample: func(config measure.Config) (measure.Sample, error) {
			return sample(config, rival)
		}})
	}
	return c
}

// short writes 100,000 as 100k.
func short(n int) string {
	if n >= 1_000_000 {
		return fmt.Sprintf("%dM", n/1_000_000)
	}
	return fmt.Sprintf("%dk", n/1_000)
}

// updated is a table, and where the next update begins.
type updated struct {
	keyed.Table

	next   int
	warmed int           // the number of changes that it was warmed for
	took   time.Duration // an update of the last sample
}

// tables are those of the samples before: to build one takes longer than a
// sample. All have the same data. Samples are taken one at a time.
var tables struct {
	data *keyed.Data
	of   map[string]*updated

	percent int // GOGC for fewer than manyKeys, if it is not in force
}

// manyKeys are so many that a garbage collection of all tables takes longer than
// the samples of a round. The collector starts later then: rivals that allocate
// pay less for it than in a program.
const manyKeys = 1_000_000

func tableOf(rival string, keys int) (*updated, error) {
	if tables.data == nil || len(tables.data.Keys) != keys {
		tables.of = make(map[string]*updated) // the old ones first
		tables.data = keyed.NewData(keys)
		switch {
		case keys >= manyKeys:
			tables.percent = debug.SetGCPercent(400)
		case tables.percent != 0:
			debug.SetGCPercent(tables.percent)
			tables.percent = 0
		}
	}
	t := tables.of[rival]
	if t == nil {
		made, err := keyed.New(rival, tables.data)
		if err != nil {
			return nil, err
		}
		t = &updated{Table: made}
		tables.of[rival] = t
	}
	return t, nil
}

// update makes the next update of n changes.
func (t *updated) update(n int) error {
	if t.next+n > len(tables.data.Changes) {
		t.next = 0
	}
	t.next += n
	return t.Update(t.next-n, t.next)
}

// warm makes updates until those that follow need no more memory.
func (t *updated) warm(n int) error {
	if t.warmed == n {
		return nil
	}
	for range t.Warm(n) {
		if err := t.update(n); err != nil {
			return err
		}
	}
	t.warmed = n
	return nil
}

func sampleDelta(rival string, config measure.Config, keys, changes int) (measure.Sample, error) {
	t, err := tableOf(rival, keys)
	if err != nil {
		return measure.Sample{}, err
	}
	if err := t.warm(changes); err != nil {
		return measure.Sample{}, err
	}
	collectGarbage(keys)
	batch := 1 // updates between two looks at the clock, which take up to a hundredth of it
	work := func(w *measure.Stopwatch) (operations int) {
		for w.Running() && err == nil {
			for range batch {
				if err = t.update(changes); err != nil {
					break
				}
			}
			operations += batch
		}
		return operations
	}
	if t.took < config.Time { // one longer update would warm no cache for the next
		warm := measure.Serial(config.Time/4, work)
		batch = min(max(1, int(float64(config.Time)/100/warm.Values["ns/op"])), 64)
	}
	sample := measure.Serial(config.Time, work)
	t.took = time.Duration(sample.Values["ns/op"])
	return sample, err
}

func sampleLookup(rival string, config measure.Config, keys, goroutines int) (measure.Sample, error) {
	t, err := tableOf(rival, keys)
	if err != nil {
		return measure.Sample{}, err
	}
	collectGarbage(keys)
	wanted := make([]string, 0, keys)
	for _, c := range tables.data.Changes[:keys] {
		wanted = append(wanted, c.Key)
	}
	block := min(keys, 256) // between two looks at the clock
	work := func(g int, w *measure.Stopwatch) (operations int) {
		sum, end := t.Reader()
		defer end()
		at, found := g*keys/goroutines, int64(0)
		for w.Running() {
			if at+block > keys {
				at = 0
			}
			found += sum(wanted[at : at+block])
			at += block
			operations += block
		}
		sink.Add(found)
		return operations
	}
	measure.Parallel(goroutines, config.Time/4, work)
	return measure.Parallel(goroutines, config.Time, work), nil
}

// collected is how much had been allocated when collectGarbage ran last, and how
// much of it was in use.
var collected struct{ allocated, live uint64 }

// collectGarbage sees to it that what other rivals left is none of the next
// one's cost. It leaves what is too little to make the runtime collect.
func collectGarbage(keys int) {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	most := collected.live / 16
	if keys >= manyKeys {
		most = 3 * collected.live
	}
	if m.TotalAlloc-collected.allocated <= most {
		return
	}
	runtime.GC()
	runtime.ReadMemStats(&m)
	collected.allocated, collected.live = m.TotalAlloc, m.HeapAlloc
}
