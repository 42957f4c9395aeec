package oplog_test

import (
	"testing"

	"github.com/poolswap/poolswap/internal/test/pooltest"
)

// load is a fill of Replace that sets key to value and nothing else.
func load(key uint16, value uint64) func(*table) error {
	return func(obj *table) error { obj.values[key] = value; return nil }
}

func TestReplacePublishesWhatFillMakesOfAnEmptyObject(t *testing.T) {
	log := newLog(t)
	publish(t, log, set(1, 1), push(1, 1))
	publish(t, log, set(2, 2))
	publish(t, log, set(3, 3))
	before, old := log.Stats(), log.Container().Version()
	version, err := log.Replace(t.Context(), func(next *table) error {
		if contentOf(next) != "map[]" {
			t.Errorf("fill got %s", contentOf(next))
		}
		return load(7, 7)(next)
	})
	if err != nil || version <= old || version != log.Container().Version() {
		t.Errorf("it returned %d, %v", version, err)
	}
	wantCurrent(t, log, "map[7:7]")
	now := log.Stats()
	if now.Kept != 0 || now.Restarts != before.Restarts+1 || now.Publications != before.Publications+1 || now.Operations != before.Operations || now.Copies != before.Copies {
		t.Errorf("%+v, and was %+v", now, before)
	}

	publish(t, log, set(8, 8)) // the other object is brought up by Copy, once
	publish(t, log, set(9, 9))
	publish(t, log, push(1, 1))
	wantCurrent(t, log, "map[7:7 8:8 9:9] map[1:[1]]")
	if last := log.Stats(); last.Copies != now.Copies+1 || last.CatchUps != now.CatchUps+2 || last.Restarts != now.Restarts {
		t.Errorf("%+v, and was %+v", last, now)
	}
	wantRight(t, log)
}

func TestAFillThatFailsLeavesTheLogAsItWas(t *testing.T) {
	for _, way := range failures {
		t.Run(way.name, func(t *testing.T) {
			log := newLog(t)
			publish(t, log, set(1, 1))
			publish(t, log, push(1, 10))
			before, stats := stateOf(log), log.Stats()
			a := try(func() (uint64, error) {
				return log.Replace(t.Context(), func(next *table) error { spoil(next); return way.fail() })
			})
			if wantFailed(t, way.name, a) && a.err != errBad {
				t.Errorf("the error is %v", a.err)
			}
			wantUnchanged(t, log, before)
			if now := log.Stats(); now != stats {
				t.Errorf("%+v, and was %+v", now, stats)
			}
			publish(t, log, push(1, 11))
			wantCurrent(t, log, "map[1:1] map[1:[10 11]]")
			if now := log.Stats(); now.Restarts != 0 || now.Copies != stats.Copies+1 {
				t.Errorf("%+v", now)
			}
			wantRight(t, log)
		})
	}
}

func TestAResetThatFailsInReplaceLeavesTheLogAsItWas(t *testing.T) {
	failing := false
	log := newLog(t, func(c *tableConfig) {
		c.Reset = func(obj *table) {
			if failing {
				spoil(obj)
				panic(errBad)
			}
			resetTable(obj)
		}
	})
	publish(t, log, set(1, 1))
	publish(t, log, set(2, 2))
	before := stateOf(log)
	failing = true
	wantFailed(t, "panics", try(func() (uint64, error) { return log.Replace(t.Context(), load(7, 7)) }))
	wantUnchanged(t, log, before)
	publish(t, log, set(3, 3)) // by Copy, which needs no Reset
	wantCurrent(t, log, "map[1:1 2:2 3:3]")
	failing = false
	wantRight(t, log)
}

func TestReplacePanicsWithANilFill(t *testing.T) {
	log := newLog(t)
	before := stateOf(log)
	pooltest.WantPanic(t, "oplog: Replace with a nil fill", func() { log.Replace(t.Context(), nil) })
	wantUnchanged(t, log, before)
	publish(t, log, set(1, 1))
}

func TestReplaceFillsAnEmptiedContainer(t *testing.T) {
	log := newLog(t)
	publish(t, log, set(1, 1))
	publish(t, log, set(2, 2))
	log.Container().Update(nil)
	if _, err := log.Replace(t.Context(), load(7, 7)); err != nil {
		t.Fatal(err)
	}
	wantCurrent(t, log, "map[7:7]")
	publish(t, log, set(8, 8))
	publish(t, log, set(9, 9))
	wantCurrent(t, log, "map[7:7 8:8 9:9]")
	wantRight(t, log)
}
