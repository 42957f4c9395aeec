package oplog

import (
	"context"
	"maps"

	"github.com/poolswap/poolswap"
)

// Change is an operation on a [Map]: it sets Key to Value, or deletes Key.
type Change[K comparable, V any] struct {
	Key    K
	Value  V
	Delete bool // delete Key; Value is not looked at
}

// MapOptions configure a [Map]. The zero MapOptions are usable.
type MapOptions[K comparable, V any] struct {
	Keep int // as in Options
	Pool poolswap.Options[View[K, V]]
}

// Map is a map that is read all the time and changed now and then. It is a [Log] of
// [Change]: readers see whole versions and never wait, and the cost of a change does
// not grow with the map. Make one with [NewMap]. It is safe for any number of
// goroutines, and must not be copied.
//
// Values are copied by assignment. One that is or holds a pointer, a slice or a
// map is shared by several versions, which readers read: it must never be changed
// once it was set. To change it, set a changed copy.
//
//	routes, err := oplog.NewMap(oplog.MapOptions[string, netip.Addr]{})
//	...
//	version, err := routes.Set(ctx, "db-1", addr)
//	...
//	view := routes.Container().Acquire()
//	defer routes.Container().Release(view)
//	addr, ok := view.Get("db-1")
//
// Memory is that of two maps, or more while readers hold old versions, and that of
// the kept changes: a replaced or deleted value stays in memory until the last of
// them is gone. Like any map of Go it does not shrink.
type Map[K comparable, V any] struct {
	log *Log[View[K, V], *View[K, V], Change[K, V]]
}

// fewChanges is the number of changes up to which a View is not copied, however
// small the map is.
const fewChanges = 64

// NewMap returns an empty Map. It returns an error if options are not possible.
func NewMap[K comparable, V any](options MapOptions[K, V]) (*Map[K, V], error) {
	m := new(Map[K, V])
	log, err := New(Options[View[K, V], Change[K, V]]{
		New:   func() *View[K, V] { return &View[K, V]{of: m} },
		Apply: applyChange[K, V],
		Copy:  copyView[K, V],
		Reset: func(v *View[K, V]) { clear(v.values) },
		Keep:  options.Keep,
		Pool:  options.Pool,
	})
	if err != nil {
		return nil, err
	}
	log.replayAtMost = func(v *View[K, V]) int { return max(fewChanges, v.Len()) }
	m.log = log
	return m, nil
}

// Log returns the Log behind m, for Stats, its pool, and package oplogtest.
func (m *Map[K, V]) Log() *Log[View[K, V], *View[K, V], Change[K, V]] { return m.log }

// Container returns the container of the Views, for readers.
func (m *Map[K, V]) Container() *poolswap.Container[View[K, V], *View[K, V]] { return m.log.container }

// Publish makes changes, in order, and publishes them as one version. It is
// [Log.Publish]; no changes publish nothing.
func (m *Map[K, V]) Publish(ctx context.Context, changes ...Change[K, V]) (version uint64, err error) {
	return m.log.Publish(ctx, changes...)
}

// PublishFunc is Publish of changes that follow from the current content, as for a
// counter: no other publisher comes between. It is [Log.PublishFunc].
func (m *Map[K, V]) PublishFunc(ctx context.Context, changes func(current *View[K, V]) ([]Change[K, V], error)) (version uint64, err error) {
	return m.log.PublishFunc(ctx, changes)
}

// Set publishes the map with key set to value. It is Publish of one Change.
func (m *Map[K, V]) Set(ctx context.Context, key K, value V) (version uint64, err error) {
	return m.log.Publish(ctx, Change[K, V]{Key: key, Value: value})
}

// Delete publishes the map without key. It is Publish of one Change.
func (m *Map[K, V]) Delete(ctx context.Context, key K) (version uint64, err error) {
	return m.log.Publish(ctx, Change[K, V]{Key: key, Delete: true})
}

// Replace publishes a full load: fill calls set for each key, and all other keys
// are gone. If fill returns an error, the map is unchanged, and Replace returns the
// error. It is [Log.Replace]. set is for the goroutine of fill alone, and panics once
// fill has returned.
func (m *Map[K, V]) Replace(ctx context.Context, fill func(set func(key K, value V)) error) (version uint64, err error) {
	if fill == nil {
		panic("oplog: Replace with a nil fill")
	}
	return m.log.Replace(ctx, func(next *View[K, V]) error {
		ended := false
		defer func() { ended = true }()
		return fill(func(key K, value V) {
			if ended {
				panic("oplog: set was called after the fill that Replace gave it to")
			}
			next.set(key, value)
		})
	})
}

// Get returns the current value of key, and whether there is one; there is none
// once the container is closed. For several keys of one version use a [View]. A
// [poolswap.Reader] of the Container is faster for many lookups.
func (m *Map[K, V]) Get(key K) (value V, ok bool) {
	view := m.log.container.Acquire()
	if view == nil {
		return value, false // closed
	}
	defer m.log.container.Release(view)
	return view.Get(key)
}

func applyChange[K comparable, V any](v *View[K, V], change Change[K, V]) error {
	if change.Delete {
		delete(v.values, change.Key)
	} else {
		v.set(change.Key, change.Value)
	}
	return nil
}

// copyView leaves dst's old map to the garbage collector: for a large map, Clone is
// several times as fast as clearing it and setting each key.
func copyView[K comparable, V any](dst, src *View[K, V]) error {
	dst.values = maps.Clone(src.values)
	return nil
}
