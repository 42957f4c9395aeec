package oplog_test

import (
	"errors"
	"maps"
	"strings"
	"testing"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/internal/test/pooltest"
	"github.com/poolswap/poolswap/oplog"
	"github.com/poolswap/poolswap/oplog/oplogtest"
)

func newMap[K comparable, V any](t *testing.T, options oplog.MapOptions[K, V]) *oplog.Map[K, V] {
	t.Helper()
	m, err := oplog.NewMap(options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closeLog(t, m.Log()) })
	return m
}

// wantMap fails the test unless m has this content, by all ways to read it, and
// Verify finds nothing.
func wantMap[K comparable, V comparable](t *testing.T, m *oplog.Map[K, V], want map[K]V) {
	t.Helper()
	view := m.Container().Acquire()
	defer m.Container().Release(view)
	if got := maps.Collect(view.All()); !maps.Equal(got, want) || view.Len() != len(want) {
		t.Errorf("it has %v, %d keys; want %v", got, view.Len(), want)
	}
	for key, value := range want {
		if got, ok := view.Get(key); got != value || !ok {
			t.Errorf("View.Get(%v) is %v, %v, want %v", key, got, ok, value)
		}
		if got, ok := m.Get(key); got != value || !ok {
			t.Errorf("Get(%v) is %v, %v, want %v", key, got, ok, value)
		}
	}
	equal := func(a, b *oplog.View[K, V]) bool {
		return maps.Equal(maps.Collect(a.All()), maps.Collect(b.All()))
	}
	if err := oplogtest.Verify(m.Log(), equal); err != nil {
		t.Error(err)
	}
}

// published returns a function that returns the version of a publication, and
// fails the test if there is none.
func published(t *testing.T) func(version uint64, err error) uint64 {
	return func(version uint64, err error) uint64 {
		t.Helper()
		if version == 0 || err != nil {
			t.Errorf("version %d, error %v", version, err)
		}
		return version
	}
}

func TestMapAgreesWithGoMap(t *testing.T) {
	for _, kept := range []int{0, 1, 3} {
		m := newMap(t, oplog.MapOptions[string, int]{Keep: kept})
		want := map[string]int{}
		wantMap(t, m, want)
		done := published(t)
		done(m.Set(t.Context(), "a", 1))
		want["a"] = 1
		wantMap(t, m, want)
		done(m.Set(t.Context(), "b", 2))
		done(m.Set(t.Context(), "a", 3))
		want["a"], want["b"] = 3, 2
		wantMap(t, m, want)
		done(m.Delete(t.Context(), "a"))
		delete(want, "a")
		wantMap(t, m, want)
		done(m.Delete(t.Context(), "missing"))
		wantMap(t, m, want)
		done(m.Publish(t.Context(),
			oplog.Change[string, int]{Key: "c", Value: 1},
			oplog.Change[string, int]{Key: "c", Value: 4},
			oplog.Change[string, int]{Key: "d", Value: 5},
			oplog.Change[string, int]{Key: "b", Value: 6, Delete: true},
			oplog.Change[string, int]{Key: "d", Delete: true},
			oplog.Change[string, int]{Key: "d", Value: 7},
		))
		want = map[string]int{"c": 4, "d": 7}
		wantMap(t, m, want)
		done(m.Replace(t.Context(), func(set func(string, int)) error {
			set("e", 1)
			set("e", 8)
			set("f", 9)
			return nil
		}))
		want = map[string]int{"e": 8, "f": 9}
		wantMap(t, m, want)
		done(m.Set(t.Context(), "g", 10))
		want["g"] = 10
		wantMap(t, m, want)
		done(m.Replace(t.Context(), func(func(string, int)) error { return nil }))
		wantMap(t, m, map[string]int{})
		done(m.Set(t.Context(), "h", 11))
		wantMap(t, m, map[string]int{"h": 11})
	}
}

func TestSetAfterFillPanics(t *testing.T) {
	const want = "oplog: set was called after the fill that Replace gave it to"
	m := newMap(t, oplog.MapOptions[string, int]{})
	for _, way := range append(failures, struct {
		name string
		fail func() error
	}{"returns", func() error { return nil }}) {
		var kept func(string, int)
		try(func() (uint64, error) {
			return m.Replace(t.Context(), func(set func(string, int)) error {
				set("a", 1)
				kept = set
				return way.fail()
			})
		})
		pooltest.WantPanic(t, want, func() { kept("b", 2) })
	}
	wantMap(t, m, map[string]int{"a": 1})
}

func TestMapReplaceWithNilFill(t *testing.T) {
	m := newMap(t, oplog.MapOptions[string, int]{})
	pooltest.WantPanic(t, "oplog: Replace with a nil fill", func() { m.Replace(t.Context(), nil) })
	published(t)(m.Set(t.Context(), "a", 1))
}

func TestGetMissingKey(t *testing.T) {
	m := newMap(t, oplog.MapOptions[string, *int]{})
	for range 3 {
		if value, ok := m.Get("a"); value != nil || ok {
			t.Errorf("Get returned %v, %v", value, ok)
		}
		m.Container().WithAcquire(func(view *oplog.View[string, *int]) {
			if value, ok := view.Get("a"); value != nil || ok {
				t.Errorf("View.Get returned %v, %v", value, ok)
			}
		})
		published(t)(m.Set(t.Context(), "b", new(int)))
	}
}

func TestClosedMapIsEmpty(t *testing.T) {
	m := newMap(t, oplog.MapOptions[string, int]{})
	published(t)(m.Set(t.Context(), "a", 1))
	if err := m.Container().Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if value, ok := m.Get("a"); value != 0 || ok {
		t.Errorf("Get returned %v, %v", value, ok)
	}
	for name, call := range map[string]func() (uint64, error){
		"Set":    func() (uint64, error) { return m.Set(t.Context(), "a", 1) },
		"Delete": func() (uint64, error) { return m.Delete(t.Context(), "a") },
		"Publish": func() (uint64, error) {
			return m.Publish(t.Context(), oplog.Change[string, int]{Key: "a"})
		},
		"Replace": func() (uint64, error) { return m.Replace(t.Context(), func(func(string, int)) error { return nil }) },
	} {
		if version, err := call(); version != 0 || err != poolswap.ErrClosed {
			t.Errorf("%s returned %d, %v", name, version, err)
		}
	}
}

func TestUnhashableKey(t *testing.T) {
	m := newMap(t, oplog.MapOptions[any, int]{})
	published(t)(m.Set(t.Context(), "a", 1))
	published(t)(m.Set(t.Context(), 2, 2))
	version, stats := m.Container().Version(), m.Log().Stats()
	key := []int{1}
	for name, call := range map[string]func(){
		"Set":    func() { m.Set(t.Context(), key, 1) },
		"Delete": func() { m.Delete(t.Context(), key) },
		"Publish": func() {
			m.Publish(t.Context(), oplog.Change[any, int]{Key: "b", Value: 1}, oplog.Change[any, int]{Key: "a", Delete: true}, oplog.Change[any, int]{Key: key})
		},
		"Replace": func() {
			m.Replace(t.Context(), func(set func(any, int)) error { set("c", 1); set(key, 1); return nil })
		},
		"Get": func() { m.Get(key) },
	} {
		if text := pooltest.PanicOf(t, call); !strings.Contains(text, "hash of unhashable type") {
			t.Errorf("%s: the panic is %s", name, text)
		}
		if now := m.Log().Stats(); m.Container().Version() != version || now.Publications != stats.Publications || now.Kept != stats.Kept {
			t.Errorf("after %s: version %d, and was %d; %+v", name, m.Container().Version(), version, now)
		}
		wantMap(t, m, map[any]int{"a": 1, 2: 2})
	}
}

func TestMapKeep(t *testing.T) {
	for keep, want := range map[int]int{1: 1, 5: 5, 0: 20} {
		m := newMap(t, oplog.MapOptions[int, int]{Keep: keep})
		for i := range 20 {
			published(t)(m.Set(t.Context(), i, i))
		}
		if kept := m.Log().Stats().Kept; kept != want {
			t.Errorf("Keep %d: %d are kept", keep, kept)
		}
	}
}

func TestMapPoolOptions(t *testing.T) {
	options := oplog.MapOptions[int, int]{}
	options.Pool.MaxLive = 2
	m := newMap(t, options)
	view := m.Container().Acquire()
	defer m.Container().Release(view)
	published(t)(m.Set(t.Context(), 1, 1))
	if version, err := m.Set(endsInsteadOfWaiting(t), 2, 2); version != 0 || !errors.Is(err, poolswap.ErrLimit) {
		t.Errorf("a third object: version %d, error %v", version, err)
	}
}

// TestMapCopiesBeyondItsSize: a View that missed more changes than there are keys, and
// not few, is copied.
func TestMapCopiesBeyondItsSize(t *testing.T) {
	for _, c := range []struct{ keys, missed, copies int }{{1, 64, 0}, {1, 65, 1}, {100, 100, 0}, {100, 101, 1}} {
		m := newMap(t, oplog.MapOptions[int, int]{})
		done := published(t)
		done(m.Replace(t.Context(), func(set func(int, int)) error {
			for key := range c.keys {
				set(key, 0)
			}
			return nil
		}))
		done(m.Set(t.Context(), 0, 1)) // the other object is copied
		changes := make([]oplog.Change[int, int], c.missed)
		done(m.Publish(t.Context(), changes...))
		before := m.Log().Stats()
		done(m.Set(t.Context(), 0, 2))
		now := m.Log().Stats()
		if copies := int(now.Copies - before.Copies); copies != c.copies || int(now.CatchUps-before.CatchUps) != 1-c.copies {
			t.Errorf("%d keys, %d changes missed: %d copies, want %d", c.keys, c.missed, copies, c.copies)
		}
	}
}
