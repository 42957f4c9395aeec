package keyed

import (
	"sync"

	"github.com/puzpuzpuz/xsync/v4"
)

// syncMap is changed in place, key by key: a reader may see half an update.
type syncMap struct {
	ready

	data   *Data
	values sync.Map
}

func newSyncMap(d *Data) *syncMap {
	t := &syncMap{data: d}
	for i, key := range d.Keys {
		t.values.Store(key, d.Values[i])
	}
	return t
}

func (t *syncMap) Update(from, to int) error {
	for _, c := range t.data.Changes[from:to] {
		t.values.Store(c.Key, c.Value)
	}
	return nil
}

func (t *syncMap) Reader() (sum func(keys []string) int64, end func()) {
	return func(keys []string) int64 { return sumSyncMap(&t.values, keys) }, nothing
}

func sumSyncMap(m *sync.Map, keys []string) (sum int64) {
	for _, key := range keys {
		if value, ok := m.Load(key); ok {
			sum += value.(int64)
		}
	}
	return sum
}

// xsyncMap is changed in place, key by key.
type xsyncMap struct {
	ready

	data   *Data
	values *xsync.Map[string, int64]
}

func newXsyncMap(d *Data) *xsyncMap {
	t := &xsyncMap{data: d, values: xsync.NewMap[string, int64](xsync.WithPresize(len(d.Keys)))}
	for i, key := range d.Keys {
		t.values.Store(key, d.Values[i])
	}
	return t
}

func (t *xsyncMap) Update(from, to int) error {
	for _, c := range t.data.Changes[from:to] {
		t.values.Store(c.Key, c.Value)
	}
	return nil
}

func (t *xsyncMap) Reader() (sum func(keys []string) int64, end func()) {
	return func(keys []string) int64 { return sumXsyncMap(t.values, keys) }, nothing
}

func sumXsyncMap(m *xsync.Map[string, int64], keys []string) (sum int64) {
	for _, key := range keys {
		value, _ := m.Load(key)
		sum += value
	}
	return sum
}

// rwMutexMap is changed in place under a lock that readers wait for, and take
// for each key.
type rwMutexMap struct {
	ready

	data   *Data
	mu     sync.RWMutex
	values plain // guarded by mu
}

func (t *rwMutexMap) Update(from, to int) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	apply(t.values, t.data.Changes[from:to])
	return nil
}

func (t *rwMutexMap) Reader() (sum func(keys []string) int64, end func()) { return t.sum, nothing }

func (t *rwMutexMap) sum(keys []string) (sum int64) {
	for _, key := range keys {
		t.mu.RLock()
		sum += t.values[key]
		t.mu.RUnlock()
	}
	return sum
}
