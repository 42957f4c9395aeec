package poolswap_test

import (
	"encoding/json"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

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
		want := poolswap.Stats{SpareLimit: poolswap.DefaultSpares}
		want.Reads.Counting, want.Reads.Path = "portable", refcount.ReadPath()
		if !options.Portable && stripe.Asymmetric() {
			want.Reads.Counting = "asymmetric"
		}
		step := func(what string, change func()) {
			t.Helper()
			change()
			if got := pool.Stats(); !pooltest.Same(got, want) {
				t.Fatalf("after %s\n got %+v\nwant %+v", what, got, want)
			}
		}

		c := poolswap.NewEmptyContainer(pool)
		step("nothing", func() {})
		var next, old *table
		step("Get", func() { next = pool.Get(); want.Created, want.Live = 1, 1 })
		step("Update", func() { c.Update(next); want.Updates, want.Current, want.Versions = 1, 1, []uint64{1} })
		step("Acquire", func() { old = c.Acquire(); want.Held = 1 })
		step("a second Acquire", func() { c.Acquire(); want.Held = 2 })
		step("Update with a literal", func() {
			c.Update(&table{})
			want.Adopted, want.Live, want.Updates, want.Retired = 1, 2, 2, 1
			want.Versions = []uint64{2}
		})
		step("a Release of the replaced object", func() {
			c.Release(old)
			want.Reads.LateReleases, want.Reads.SlowChecks, want.Held = 1, 1, 1
		})
		step("its last Release", func() {
			c.Release(old)
			pooltest.Settled(t, pool, 0)
			want.Reads.LateReleases, want.Reads.SlowChecks, want.Held = 2, 2, 0
			want.Retired, want.Drained, want.Spares = 0, 1, 1
		})
		step("a Release of the current object", func() { c.Release(c.Acquire()) })
		step("Get of the spare", func() { next = pool.Get(); want.Spares = 0 })
		step("an Update that drains", func() {
			c.Update(next)
			want.Updates, want.Drained, want.Spares, want.Versions = 3, 2, 1, []uint64{3}
		})
		step("an Update that drains an object that reset refuses", func() {
			refuse = true
			c.Update(nil)
			want.Current, want.Drained, want.Discarded, want.Live, want.Versions = 0, 3, 1, 1, nil
		})
		step("a Publish that fails", func() {
			refuse = false
			if _, err := c.Publish(t.Context(), func(next, current *table) error { return io.EOF }); err != io.EOF {
				t.Fatal(err)
			}
			want.FailedPublishes = 1
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
		"Live", "Current", "Retired", "PendingReset", "Resetting", "Spares", "SpareLimit",
		"Updates", "Drained", "Leaked", "Abandoned",
		"Versions", "FailedPublishes", "Held", "OldestRetired", "Reads",
	} {
		if _, ok := fields[name]; !ok {
			t.Errorf("no field %s in %s", name, text)
		}
		delete(fields, name)
	}
	if len(fields) > 0 {
		t.Errorf("unexpected fields %v", fields)
	}
	if want := `"Reads":{"Retries":0,"LateReleases":0,"SlowChecks":0,"Counting":"portable","Path":"`; !strings.Contains(string(text), want) {
		t.Errorf("%s lacks %s", text, want)
	}
}

// TestOldestRetired: the figure is 0 unless a replaced object is held, and grows while
// the same one is.
func TestOldestRetired(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := newTablePool(poolswap.Options[table]{})
		c := poolswap.NewContainer(pool, &table{})
		hold := func() *table {
			obj := c.Acquire()
			time.Sleep(time.Hour)
			c.Update(c.GetNew())
			return obj
		}
		check := func(want time.Duration) {
			t.Helper()
			if got := pool.Stats().OldestRetired; got != want {
				t.Errorf("OldestRetired is %v, want %v", got, want)
			}
		}
		check(0)
		first := hold()
		check(0)
		second := hold()
		check(time.Hour)
		c.Release(first)
		check(0)
		time.Sleep(time.Minute)
		check(time.Minute)
		c.Release(second)
		check(0)
	})
}

// TestStatsVersions: no version was superseded before the call.
func TestStatsVersions(t *testing.T) {
	pool := newTablePool(poolswap.Options[table]{})
	c := poolswap.NewContainer(pool, &table{})
	defer keepUpdating(c)()
	for range 500_000 {
		before := c.Version()
		for _, v := range pool.Stats().Versions {
			if v < before {
				t.Fatalf("Versions has %d, and %d was current before the call", v, before)
			}
		}
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

// TestStatsListVersionsInOrder: versions ascend, in any order of the containers.
func TestStatsListVersionsInOrder(t *testing.T) {
	pool := newTablePool(poolswap.Options[table]{})
	first, second := poolswap.NewContainer(pool, &table{value: 1}), poolswap.NewContainer(pool, &table{value: 2})
	first.Update(first.GetNew())
	if got, want := pool.Stats().Versions, []uint64{second.Version(), first.Version()}; !slices.Equal(got, want) || want[0] >= want[1] {
		t.Errorf("the versions are %d, want %d", got, want)
	}
}
