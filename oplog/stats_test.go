package oplog_test

import (
	"testing"

	"github.com/poolswap/poolswap/oplog"
)

func TestStatsCountEachThing(t *testing.T) {
	log := newLog(t, keep(5))
	want := oplog.Stats{}
	check := func(what string) {
		t.Helper()
		if got := log.Stats(); got != want {
			t.Errorf("after %s\n got %+v\nwant %+v", what, got, want)
		}
	}
	check("New")

	publish(t, log, set(1, 1), set(2, 2))
	want = oplog.Stats{Publications: 1, Operations: 2, Applied: 2, Copies: 1, Kept: 2}
	check("a Publish by a new object")

	publish(t, log, set(3, 3))
	want = oplog.Stats{Publications: 2, Operations: 3, Applied: 5, CatchUps: 1, Copies: 1, Kept: 3}
	check("a Publish by an object that missed two")

	publish(t, log, set(1, 1), set(1, 1), set(1, 1))
	want = oplog.Stats{Publications: 3, Operations: 6, Applied: 9, CatchUps: 2, Copies: 1, Kept: 4}
	check("a Publish that drops the first")

	log.Publish(t.Context(), set(1, 1), call(func(*table) error { return errBad }), set(1, 1))
	want.Applied, want.CatchUps = want.Applied+4, want.CatchUps+1
	check("a Publish whose second operation fails")

	publish(t, log, set(4, 4))
	want.Publications, want.Operations, want.Applied, want.Copies, want.Kept = 4, 7, 14, 2, 5
	check("a Publish by the object that was half changed")

	if _, err := log.Replace(t.Context(), load(1, 1)); err != nil {
		t.Fatal(err)
	}
	want.Publications, want.Restarts, want.Kept = 5, 1, 0
	check("a Replace")

	log.Container().Update(tableWith(1, 1))
	check("an Update past the log")
	publish(t, log, set(1, 2))
	want.Publications, want.Operations, want.Applied, want.Copies, want.Restarts, want.Kept = 6, 8, 15, 3, 2, 1
	check("the next Publish")

	log.Container().Update(nil)
	publish(t, log, set(1, 3))
	want.Publications, want.Operations, want.Applied, want.Restarts = 7, 9, 16, 3
	check("a Publish on an emptied container")
}

func TestStatsCountAppliesBeforeFailure(t *testing.T) {
	for _, way := range failures {
		t.Run(way.name, func(t *testing.T) {
			log := newLog(t)
			publish(t, log, set(1, 1))
			before := log.Stats().Applied
			try(func() (uint64, error) {
				return log.Publish(t.Context(), set(2, 2), set(3, 3), call(func(*table) error { return way.fail() }))
			})
			if applied := log.Stats().Applied - before; applied != 3 { // one missed, two new
				t.Errorf("%d calls of Apply succeeded, by Stats; want 3", applied)
			}
		})
	}
}

func TestFailedCatchUpIsNotCounted(t *testing.T) {
	failing := false
	log := newLog(t)
	publish(t, log, set(1, 1))
	publish(t, log, call(func(*table) error {
		if failing {
			return errBad
		}
		return nil
	}))
	before := log.Stats().CatchUps
	failing = true
	log.Publish(t.Context(), set(2, 2))
	if now := log.Stats().CatchUps; now != before {
		t.Errorf("CatchUps counts an object that was not brought up")
	}
}
