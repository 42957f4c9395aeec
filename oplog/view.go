package oplog

import (
	"iter"
	"maps"

	"github.com/poolswap/poolswap"
)

// View is one version of a [Map], for readers: it never changes while it is held.
// It comes from the map's container and is given back there. Any number of
// goroutines may use one at a time.
type View[K comparable, V any] struct {
	poolswap.Ref

	of     *Map[K, V]
	values map[K]V // nil in a new object
}

// Get returns the value of key, and whether there is one. A nil View, which
// Acquire returns once the container is closed, is empty.
func (v *View[K, V]) Get(key K) (value V, ok bool) {
	if v == nil {
		return value, false
	}
	value, ok = v.values[key]
	return value, ok
}

// Len returns the number of keys.
func (v *View[K, V]) Len() int {
	if v == nil {
		return 0
	}
	return len(v.values)
}

// All yields the keys and values, in no particular order.
func (v *View[K, V]) All() iter.Seq2[K, V] {
	return func(yield func(K, V) bool) {
		if v == nil {
			return
		}
		for key, value := range v.values {
			if !yield(key, value) {
				return
			}
		}
	}
}

// Version returns the version under which v was published, or 0 if v is nil or was
// not made by a Map. The caller holds v.
func (v *View[K, V]) Version() uint64 {
	if v == nil || v.of == nil {
		return 0
	}
	return v.of.Container().VersionOf(v)
}

// EqualFunc reports whether v and other have the same keys, with values that are
// equal by equal.
func (v *View[K, V]) EqualFunc(other *View[K, V], equal func(a, b V) bool) bool {
	if v == nil || other == nil {
		return v.Len() == other.Len()
	}
	return maps.EqualFunc(v.values, other.values, equal)
}

func (v *View[K, V]) set(key K, value V) {
	if v.values == nil { // a new object
		v.values = map[K]V{}
	}
	v.values[key] = value
}
