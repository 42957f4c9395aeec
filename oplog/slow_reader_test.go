package oplog_test

import (
	"fmt"
	"testing"
)

// TestAnObjectThatComesBackLateIsBroughtUp, by what it missed if that is kept,
// and otherwise by Copy.
func TestAnObjectThatComesBackLateIsBroughtUp(t *testing.T) {
	const kept = 6
	for _, missed := range []int{2, kept - 1, kept, kept + 1, 3 * kept} {
		t.Run(fmt.Sprint(missed, " operations late"), func(t *testing.T) {
			log := newLog(t, keep(kept))
			publish(t, log, push(1, 1))
			slow := log.Container().Acquire()
			for range missed - 1 {
				publish(t, log, push(2, 2))
			}
			other := log.Container().Acquire() // so that the one that comes back is the only free one
			free := log.Pool().Get()
			defer func() { log.Pool().Release(free) }()
			publish(t, log, push(3, 3)) // by a new object
			log.Container().Release(slow)
			before := log.Stats()
			publish(t, log, push(4, 4))
			now := log.Stats()
			catchUps, copies, applied := uint64(1), uint64(0), uint64(missed+1)
			if missed > kept {
				catchUps, copies, applied = 0, 1, 1
			}
			if now.CatchUps-before.CatchUps != catchUps || now.Copies-before.Copies != copies || now.Applied-before.Applied != applied {
				t.Errorf("%+v, and was %+v", now, before)
			}
			oracle := newTable()
			applyOperation(oracle, push(1, 1))
			for range missed - 1 {
				applyOperation(oracle, push(2, 2))
			}
			applyOperation(oracle, push(3, 3))
			applyOperation(oracle, push(4, 4))
			wantCurrent(t, log, contentOf(oracle))
			log.Container().Release(other)
			wantRight(t, log)
		})
	}
}

func TestAPublicationLargerThanKeepMakesObjectsCatchUpByCopy(t *testing.T) {
	log := newLog(t, keep(3))
	publish(t, log, push(1, 1))
	publish(t, log, push(1, 2))
	publish(t, log, push(1, 3), push(1, 4), push(1, 5), push(1, 6))
	before := log.Stats()
	if before.Kept != 0 {
		t.Errorf("%d are kept", before.Kept)
	}
	publish(t, log, push(1, 7))
	if now := log.Stats(); now.Copies != before.Copies+1 || now.CatchUps != before.CatchUps || now.Kept != 1 {
		t.Errorf("%+v, and was %+v", now, before)
	}
	wantCurrent(t, log, "map[] map[1:[1 2 3 4 5 6 7]]")
	wantRight(t, log)
}
