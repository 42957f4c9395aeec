//go:build linux

package suites

import (
	"runtime"
	"testing"
	"time"

	"github.com/poolswap/poolswap/bench/internal/rivals"
	"github.com/poolswap/poolswap/bench/internal/runner"
)

// shortService is a service of objects of 2 MiB, with an update every 10 ms.
var shortService = runner.Config{Time: 300 * time.Millisecond, Shrink: 100}

func TestSteadyServiceIsMeasuredWhole(t *testing.T) {
	allocated := make(map[string]float64)
	for _, rival := range []string{"PoolSwap", "AtomicPtr", "MutexAlloc", "RWMutexRef"} {
		got := sampled(t, "steady", "object=200MiB", rival, shortService)
		ordered := func(units ...string) {
			last := 0.0
			for _, unit := range units {
				value, ok := got.Values[unit]
				if !ok || value < last || value <= 0 {
					t.Errorf("%s: %s is %v, after %v (there: %v)", rival, unit, value, last, ok)
				}
				last = value
			}
		}
		ordered("p50-ns", "p90-ns", "p99-ns", "p99.9-ns", "p99.99-ns", "p99.999-ns", "max-ns")
		ordered("update-p50-ns", "update-max-ns")
		if want := runtime.GOMAXPROCS(0) * 3000; got.Iterations != want {
			t.Errorf("%s: %d reads, want %d: 10,000 a second and core", rival, got.Iterations, want)
		}
		late, longest := got.Values["late-reads"], got.Values["max-ns"]
		if late > float64(got.Iterations) || late > 0 && longest < 0.99e6 || late == 0 && longest > 1.01e6 {
			t.Errorf("%s: %v of %d reads were late, and the latest took %v ns", rival, late, got.Iterations, longest)
		}
		ordered("rss-peak-bytes")
		allocated[rival] = got.Values["B/update"]
	}
	for _, rival := range []string{"AtomicPtr", "MutexAlloc"} {
		if allocated[rival] < 1.5e6 || allocated[rival] < 10*allocated["PoolSwap"] {
			t.Errorf("an update allocates %v bytes with %s, of 2 MiB, and %v with PoolSwap", allocated[rival], rival, allocated["PoolSwap"])
		}
	}
}

func TestCollectionsAreSeenWhereObjectsAreMade(t *testing.T) {
	runtime.GC() // garbage of other tests puts off the next collection
	got := sampled(t, "steady", "object=200MiB", "AtomicPtr", shortService)
	collector := got.Values["gc-cpu-ns"]
	if got.Values["gcs"] < 1 || collector <= 0 {
		t.Errorf("%v collections of %v ns a second", got.Values["gcs"], collector)
	}
}

func TestAReaderSeesAWriterInItsObject(t *testing.T) {
	f := catalogueFunctions(100)
	c := f.New()
	f.Fill(&c)
	f.Reset(&c)
	f.Fill(&c)
	if err := c.look("key-42", 42); err != nil {
		t.Fatal(err)
	}
	if err := c.look("key-42", 43); err == nil {
		t.Error("another record passes")
	}
	c.data[43*recordBytes-1]++
	if err := c.look("key-42", 42); err == nil {
		t.Error("a record of two fills passes")
	}
	f.Reset(&c)
	if err := c.look("key-41", 41); err == nil {
		t.Error("an object that is empty passes")
	}
}

// stalling is a rival that stops its readers for a while, once.
type stalling struct {
	rivals.Shared[catalogue]
	reads int
}

const stall = 50 * time.Millisecond

func (s *stalling) Acquire() *rivals.Object[catalogue] {
	if s.reads++; s.reads == 100 {
		time.Sleep(stall)
	}
	return s.Shared.Acquire()
}

// One read that takes 50 ms delays the 500 that are due meanwhile: all of them are
// late, and not that one alone.
func TestReadsThatWaitForAnotherCount(t *testing.T) {
	f := catalogueFunctions(100)
	s := &stalling{Shared: rivals.New("AtomicPtr", f, 0)}
	f.Replace(s)
	r := steadyReader{shared: s, keys: newEntries(100).keys, histogram: newHistogram()}
	if reads := r.serve(100*time.Millisecond, 0); reads != 1000 || r.failed != nil {
		t.Fatalf("%d reads of 1000: %v", reads, r.failed)
	}
	if least := int64(stall/(time.Second/readsPerSecond)) - 10; r.late < least {
		t.Errorf("%d reads were late, want %d at least", r.late, least)
	}
	if longest := time.Duration(r.histogram.Max()); longest < stall*99/100 {
		t.Errorf("the longest read took %v, want %v at least", longest, stall)
	}
}
