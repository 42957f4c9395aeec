package oplog_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/poolswap/poolswap"
)

// TestHookPanicAfterPublicationRestartsLog: Publish did not return the version, but
// published it, and nothing is applied twice.
func TestHookPanicAfterPublicationRestartsLog(t *testing.T) {
	failing := false
	fail := func() {
		if failing {
			failing = false
			panic(errBad)
		}
	}
	for hook, configure := range map[string]func(*tableOptions){
		"Discard": func(c *tableOptions) {
			c.Pool.Spares = 1
			c.Pool.Discard = func(*table) { fail() }
		},
		"Report": func(c *tableOptions) { c.Pool.Report = func(error) { fail() } },
	} {
		for _, way := range []struct {
			name, content string
			publish       func(t *testing.T, log *tableLog, during func(*table) error) (uint64, error)
		}{
			{"Publish", "map[1:1] map[1:[10 11 12]]", func(t *testing.T, log *tableLog, during func(*table) error) (uint64, error) {
				return log.Publish(t.Context(), push(1, 12), call(during))
			}},
			{"Replace", "map[] map[1:[13]]", func(t *testing.T, log *tableLog, during func(*table) error) (uint64, error) {
				return log.Replace(t.Context(), func(obj *table) error { applyOperation(obj, push(1, 13)); return during(obj) })
			}},
		} {
			t.Run(hook+" in "+way.name, func(t *testing.T) {
				log := newLog(t, configure)
				publish(t, log, set(1, 1))
				publish(t, log, push(1, 10))
				publish(t, log, push(1, 11))
				extra := log.Pool().Get()
				during := func(*table) error { // the replaced object is one more than the spares then
					log.Pool().Release(extra)
					extra = nil
					return nil
				}
				if hook == "Report" { // something to report: a Release too many
					obj := log.Container().Acquire()
					log.Container().Release(obj)
					log.Container().Release(obj)
				}
				failing = true
				wantFailed(t, "panics", try(func() (uint64, error) { return way.publish(t, log, during) }))
				wantCurrent(t, log, way.content)
				before := log.Stats()
				if before.Publications != 3 {
					t.Errorf("%+v", before)
				}
				for range 3 {
					publish(t, log, push(2, 5))
				}
				wantCurrent(t, log, strings.TrimSuffix(way.content, "]")+" 2:[5 5 5]]")
				if now := log.Stats(); now.Restarts != before.Restarts+1 || now.Kept != 3 {
					t.Errorf("%+v, and was %+v", now, before)
				}
				wantRight(t, log)
			})
		}
	}
}

// TestOverReleaseWithVersion: Publish returns both, and the log goes on.
func TestOverReleaseWithVersion(t *testing.T) {
	log := newLog(t)
	publish(t, log, set(1, 1))
	publish(t, log, push(1, 10))
	obj := log.Container().Acquire()
	log.Container().Release(obj)
	log.Container().Release(obj)
	version, err := log.Publish(t.Context(), push(1, 11))
	if version == 0 || !errors.Is(err, poolswap.ErrOverReleased) {
		t.Fatalf("it returned %d, %v", version, err)
	}
	publish(t, log, push(1, 12))
	publish(t, log, push(1, 13))
	wantCurrent(t, log, "map[1:1] map[1:[10 11 12 13]]")
	if stats := log.Stats(); stats.Restarts != 0 || stats.Publications != 5 || stats.Kept != 5 {
		t.Errorf("%+v", stats)
	}
	wantRight(t, log)

	obj = log.Container().Acquire()
	log.Container().Release(obj)
	log.Container().Release(obj)
	version, err = log.Replace(t.Context(), func(*table) error { return nil })
	if stats := log.Stats(); version == 0 || !errors.Is(err, poolswap.ErrOverReleased) || stats.Restarts != 1 || stats.Publications != 6 {
		t.Errorf("Replace returned %d, %v, %+v", version, err, stats)
	}
}
