package poolswap_test

import (
	"encoding/json"
	"sync"
	"testing"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/internal/refcount"
	"github.com/poolswap/poolswap/internal/stripe"
	"github.com/poolswap/poolswap/internal/test/pooltest"
)

// TestStatsFollowEachObject takes objects through every phase and compares all
// stats after each step.
func TestStatsFollowEachObject(t *testing.T) {
	pooltest.ForEachMode(t, func(t *testing.T, options poolswap.Options[table]) {
		refuse := false
		options.Discard = func(*table) {}
		pool := poolswap.NewPoolWithOptions(func() *table { return new(table) }, func(*table) bool { return !refuse }, options)
		want := poolswap.Stats{Counting: "portable", ReadPath: refcount.ReadPath()}
		if !options.Portable && stripe.Asymmetric() {
			want.Counting = "asymmetric"
		}
		step := func(what string, change func()) {
			t.Helper()
			change()
			if got := pool.Stats(); got != want {
				t.Fatalf("after %s\n got %+v\nwant %+v", what, got, want)
			}
		}

		c := poolswap.NewEmptyContainer(pool)
		step("nothing", func() {})
		var next, old *table
		step("Get", func() { next = pool.Get(); want.Created, want.Live = 1, 1 })
		step("Update", func() { c.Update(next); want.Updates, want.Current = 1, 1 })
		step("Acquire", func() { old = c.Acquire() })
		step("a second Acquire", func() { c.Acquire() })
		step("Update with a literal", func() {
			c.Update(&table{})
			want.Adopted, want.Live, want.Updates, want.Retired = 1, 2, 2, 1
		})
		step("a Release of the replaced object", func() {
			c.Release(old)
			want.LateReleases, want.SlowChecks = 1, 1
		})
		step("its last Release", func() {
			c.Release(old)
			pooltest.Settled(t, pool, 0)
			want.LateReleases, want.SlowChecks = 2, 2
			want.Retired, want.Drained, want.Spares = 0, 1, 1
		})
		step("a Release of the current object", func() { c.Release(c.Acquire()) })
		step("Get of the spare", func() { next = pool.Get(); want.Spares = 0 })
		step("an Update that drains", func() { c.Update(next); want.Updates, want.Drained, want.Spares = 3, 2, 1 })
		step("an Update that drains an object that reset refuses", func() {
			refuse = true
			c.Update(nil)
			want.Current, want.Drained, want.Discarded, want.Live = 0, 3, 1, 1
		})
		step("Trim", func() { pool.Trim(); want.Spares, want.Discarded, want.Live = 0, 2, 0 })
	})
}

func TestStatsAreNamedInJSON(t *testing.T) {
	text, err := json.Marshal(newTablePool(poolswap.Options[table]{Portable: true}).Stats())
	if err != nil {
		t.Fatal(err)
	}
	var fields map[string]any
	if err := json.Unmarshal(text, &fields); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{
		"Created", "Adopted", "Discarded", "Lost", "Collected",
		"Live", "Current", "Retired", "PendingReset", "Resetting", "Spares",
		"Updates", "Drained", "Leaked", "Abandoned",
		"Retries", "LateReleases", "SlowChecks", "Counting", "ReadPath",
	} {
		if _, ok := fields[name]; !ok {
			t.Errorf("no field %s in %s", name, text)
		}
		delete(fields, name)
	}
	if len(fields) > 0 {
		t.Errorf("unexpected fields %v", fields)
	}
}

// TestStatsAreNeverNegative reads the stats while objects change their phase.
func TestStatsAreNeverNegative(t *testing.T) {
	pooltest.ForEachMode(t, func(t *testing.T, options poolswap.Options[table]) {
		pool := newTablePool(options)
		c := poolswap.NewContainer(pool, &table{})
		var workers sync.WaitGroup
		for range 2 {
			workers.Go(func() {
				for range 3000 {
					old := c.Acquire()
					c.Update(c.GetNew())
					c.Release(old)
				}
			})
		}
		stopped := make(chan struct{})
		go func() { workers.Wait(); close(stopped) }()
		calls := 0
		for running := true; running; calls++ {
			select {
			case <-stopped:
				running = false
			default:
			}
			s := pool.Stats()
			if s.Live < 0 || s.Current < 0 || s.Retired < 0 || s.PendingReset < 0 || s.Spares < 0 {
				t.Fatalf("after %d calls: %+v", calls, s)
			}
		}
		if s := pool.Stats(); s.Updates != 6001 || s.Current != 1 || s.Retired != 0 {
			t.Errorf("in the end: %+v", s)
		}
	})
}
