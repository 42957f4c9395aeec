package suites_test

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/poolswap/poolswap/bench/internal/runner"
)

// shortService is a service of objects of 2 MiB, with an update every 10 ms.
var shortService = runner.Config{Time: 300 * time.Millisecond, Shrink: 100}

func TestSteadyServiceIsMeasuredWhole(t *testing.T) {
	allocated := make(map[string]float64)
	for _, rival := range []string{"PoolSwap", "AtomicPtr", "MutexAlloc", "RWMutexRef"} {
		got := sample(t, "steady", "object=200MiB", rival, shortService)
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
		if runtime.GOOS == "linux" {
			largest := 0.0
			for second := range 60 {
				largest = max(largest, got.Values[fmt.Sprintf("rss-%02ds-bytes", second)])
			}
			if largest != got.Values["rss-peak-bytes"] {
				t.Errorf("%s: at most %v bytes in a second, and a peak of %v", rival, largest, got.Values["rss-peak-bytes"])
			}
		}
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
	got := sample(t, "steady", "object=200MiB", "AtomicPtr", shortService)
	collector := got.Values["gc-cpu-ns"]
	if got.Values["gcs"] < 1 || collector <= 0 {
		t.Errorf("%v collections of %v ns a second", got.Values["gcs"], collector)
	}
}
