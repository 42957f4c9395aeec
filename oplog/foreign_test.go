package oplog_test

import (
	"fmt"
	"testing"

	"github.com/poolswap/poolswap"
)

// tableWith returns a table that did not come from the pool.
func tableWith(key uint16, value uint64) *table {
	obj := newTable()
	obj.values[key] = value
	return obj
}

// foreign are the ways to publish past the Log, with the content afterwards.
var foreign = []struct {
	name, content string
	publish       func(*testing.T, *tableLog)
}{
	{"Update of a literal", "map[70:70]", func(_ *testing.T, log *tableLog) { log.Container().Update(tableWith(70, 70)) }},
	{"Update of an object from Get", "map[71:71]", func(_ *testing.T, log *tableLog) {
		obj := log.Pool().Get()
		resetTable(obj)
		obj.values[71] = 71
		log.Container().Update(obj)
	}},
	{"Publish of the container", "map[72:72]", func(t *testing.T, log *tableLog) {
		_, err := log.Container().Publish(t.Context(), func(next, _ *table) error {
			resetTable(next)
			next.values[72] = 72
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}},
	{"Update of nil", "map[]", func(_ *testing.T, log *tableLog) { log.Container().Update(nil) }},
	{"two Updates", "map[73:73]", func(_ *testing.T, log *tableLog) {
		log.Container().Update(tableWith(1, 1))
		log.Container().Update(tableWith(73, 73))
	}},
	{"Update after Update of nil", "map[74:74]", func(_ *testing.T, log *tableLog) {
		log.Container().Update(nil)
		log.Container().Update(tableWith(74, 74))
	}},
}

// TestTheLogStartsAnewAfterAForeignPublication: it builds on what that published,
// and what was published before it is never applied again.
func TestTheLogStartsAnewAfterAForeignPublication(t *testing.T) {
	for _, f := range foreign {
		t.Run(f.name, func(t *testing.T) {
			log := newLog(t)
			publish(t, log, set(1, 1))
			publish(t, log, push(1, 10))
			publish(t, log, push(1, 11))
			for round := range 3 {
				restarts := log.Stats().Restarts
				f.publish(t, log)
				publish(t, log, push(2, 20))
				wantCurrent(t, log, f.content+" map[2:[20]]")
				if now := log.Stats(); now.Restarts != restarts+1 || now.Kept != 1 {
					t.Errorf("round %d: %d restarts, and were %d; %d are kept", round, now.Restarts, restarts, now.Kept)
				}
				for range 3 {
					publish(t, log, push(2, 21))
				}
				wantCurrent(t, log, f.content+" map[2:[20 21 21 21]]")
				wantRight(t, log)
			}
		})
	}
}

func TestAForeignPublishThatFailsChangesNothing(t *testing.T) {
	log := newLog(t)
	publish(t, log, set(1, 1))
	publish(t, log, set(2, 2))
	before := stateOf(log)
	if _, err := log.Container().Publish(t.Context(), func(next, _ *table) error { spoil(next); return errBad }); err != errBad {
		t.Error(err)
	}
	wantUnchanged(t, log, before)
	publish(t, log, set(3, 3))
	wantCurrent(t, log, "map[1:1 2:2 3:3]")
	if restarts := log.Stats().Restarts; restarts != 0 {
		t.Errorf("%d restarts", restarts)
	}
	wantRight(t, log)
}

// TestAnObjectThatIsGivenBackFilledByAnotherIsCopied: its version does not tell
// its content any more.
func TestAnObjectThatIsGivenBackFilledByAnotherIsCopied(t *testing.T) {
	log := newLog(t)
	publish(t, log, set(1, 1))
	publish(t, log, set(2, 2))
	obj := log.Pool().Get()
	spoil(obj)
	log.Pool().Release(obj)
	publish(t, log, set(3, 3))
	wantCurrent(t, log, "map[1:1 2:2 3:3]")
	wantRight(t, log)
}

// TestAForeignPublicationThatOvertakesPublishIsAConflict, in the middle of each
// operation and of Replace; then Publish can be called again.
func TestAForeignPublicationThatOvertakesPublishIsAConflict(t *testing.T) {
	for _, f := range foreign {
		if f.name == "Publish of the container" {
			continue // it would wait for the Publish that it is in
		}
		for index := range 3 {
			t.Run(fmt.Sprint(f.name, " in operation ", index), func(t *testing.T) {
				log := newLog(t)
				publish(t, log, set(1, 1))
				publish(t, log, push(1, 10))
				before := log.Stats()
				ops := []operation{push(2, 1), push(2, 2), push(2, 3)}
				ops[index] = call(func(*table) error { f.publish(t, log); return nil })
				if version, err := log.Publish(t.Context(), ops...); version != 0 || err != poolswap.ErrConflict {
					t.Errorf("it returned %d, %v", version, err)
				}
				if now := log.Stats(); now.Publications != before.Publications || now.Operations != before.Operations || now.Kept != before.Kept {
					t.Errorf("%+v, and was %+v", now, before)
				}
				publish(t, log, push(2, 20))
				publish(t, log, push(2, 21))
				wantCurrent(t, log, f.content+" map[2:[20 21]]")
				wantRight(t, log)

				version, err := log.Replace(t.Context(), func(*table) error { f.publish(t, log); return nil })
				if version != 0 || err != poolswap.ErrConflict {
					t.Errorf("Replace returned %d, %v", version, err)
				}
				publish(t, log, push(2, 22))
				publish(t, log, push(2, 23))
				wantCurrent(t, log, f.content+" map[2:[22 23]]")
				wantRight(t, log)
			})
		}
	}
}

// TestObjectsOfAnotherContainerOfThePoolAreCopied: they have versions between
// those of the log, and contents of their own.
func TestObjectsOfAnotherContainerOfThePoolAreCopied(t *testing.T) {
	log := newLog(t)
	other := poolswap.NewContainer(log.Pool(), tableWith(500, 0))
	strange := func(next, _ *table) error {
		resetTable(next)
		spoil(next)
		return nil
	}
	oracle := newTable()
	for i := range 60 {
		op := push(uint16(i%3), uint64(i))
		applyOperation(oracle, op)
		publish(t, log, op)
		wantCurrent(t, log, contentOf(oracle))
		for range i % 4 {
			if _, err := other.Publish(t.Context(), strange); err != nil {
				t.Fatal(err)
			}
		}
	}
	if stats := log.Stats(); stats.Restarts != 0 || stats.Copies < 10 || stats.CatchUps < 10 {
		t.Errorf("%+v", stats)
	}
	wantRight(t, log)
}

// TestAForeignPublicationInPublishFuncIsAConflict: the operations follow from
// what is not current any more.
func TestAForeignPublicationInPublishFuncIsAConflict(t *testing.T) {
	for _, f := range foreign {
		t.Run(f.name, func(t *testing.T) {
			log := newLog(t)
			publish(t, log, set(1, 1))
			version, err := log.PublishFunc(t.Context(), func(*table) ([]operation, error) {
				f.publish(t, log)
				return []operation{set(2, 2)}, nil
			})
			if version != 0 || err != poolswap.ErrConflict {
				t.Errorf("it returned %d, %v", version, err)
			}
			publish(t, log, push(3, 3))
			wantCurrent(t, log, f.content+" map[3:[3]]")
			wantRight(t, log)
		})
	}
}
