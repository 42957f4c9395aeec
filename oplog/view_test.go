package oplog_test

import (
	"slices"
	"testing"

	"github.com/poolswap/poolswap/oplog"
)

func TestViewNeverChanges(t *testing.T) {
	m := newMap(t, oplog.MapOptions[int, int]{Keep: 8})
	var views []*oplog.View[int, int]
	var versions []uint64
	for i := range 20 {
		versions = append(versions, published(t)(m.Publish(t.Context(), oplog.Change[int, int]{Key: i, Value: i}, oplog.Change[int, int]{Key: -1, Value: i})))
		views = append(views, m.Container().Acquire())
	}
	for i, view := range views {
		if last, _ := view.Get(-1); view.Len() != i+2 || last != i || view.Version() != versions[i] {
			t.Errorf("the view of version %d has %d keys, version %d, and %d at -1", versions[i], view.Len(), view.Version(), last)
		}
		m.Container().Release(view)
	}
}

func TestAllStopsEarly(t *testing.T) {
	m := newMap(t, oplog.MapOptions[int, int]{})
	for i := range 10 {
		published(t)(m.Set(t.Context(), i, i*i))
	}
	m.Container().WithAcquire(func(view *oplog.View[int, int]) {
		for limit := range 11 {
			var keys []int
			for key, value := range view.All() {
				if value != key*key {
					t.Errorf("%d at %d", value, key)
				}
				if len(keys) == limit {
					break
				}
				keys = append(keys, key)
			}
			slices.Sort(keys)
			if distinct := slices.Compact(keys); len(distinct) != limit {
				t.Errorf("%d keys before the end at %d", len(distinct), limit)
			}
		}
	})
}

func TestForeignView(t *testing.T) {
	m := newMap(t, oplog.MapOptions[int, int]{})
	for _, view := range []*oplog.View[int, int]{nil, new(oplog.View[int, int])} {
		for range view.All() {
			t.Error("All yields something")
		}
		if value, ok := view.Get(1); value != 0 || ok || view.Len() != 0 || view.Version() != 0 {
			t.Errorf("Get returned %d, %v, Len %d, Version %d", value, ok, view.Len(), view.Version())
		}
	}
	m.Container().Update(new(oplog.View[int, int]))
	published(t)(m.Set(t.Context(), 1, 1))
	published(t)(m.Set(t.Context(), 2, 2))
	wantMap(t, m, map[int]int{1: 1, 2: 2})
}

func TestNilViewEqualsEmptyView(t *testing.T) {
	type view = oplog.View[int, int]
	m := newMap(t, oplog.MapOptions[int, int]{})
	published(t)(m.Set(t.Context(), 1, 1))
	full, same := m.Container().Acquire(), func(a, b int) bool { return a == b }
	defer m.Container().Release(full)
	for _, test := range []struct {
		name string
		a, b *view
		want bool
	}{
		{"nil and nil", nil, nil, true},
		{"nil and an empty one", nil, new(view), true},
		{"nil and a full one", nil, full, false},
		{"an empty and a full one", new(view), full, false},
		{"a full one and itself", full, full, true},
	} {
		if ab, ba := test.a.EqualFunc(test.b, same), test.b.EqualFunc(test.a, same); ab != test.want || ba != test.want {
			t.Errorf("%s: EqualFunc returned %v, and %v the other way round", test.name, ab, ba)
		}
	}
}
