package oplog

import (
	"iter"

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

// Get returns the value of key, and whether there is one.
func (v *View[K, V]) Get(key K) (V, bool) {
	value, ok := v.values[key]
	return value, ok
}

// Len returns the number of keys.
func (v *View[K, V]) Len() int { return len(v.values) }

// All yields the keys and values, in no particular order.
func (v *View[K, V]) All() iter.Seq2[K, V] {
	return func(yield func(K, V) bool) {
		for key, value := range v.values {
			if !yield(key, value) {
				return
			}
		}
	}
}

// Version returns the version under which v was published. The caller holds v.
func (v *View[K, V]) Version() uint64 { return v.of.Container().VersionOf(v) }

func (v *View[K, V]) set(key K, value V) {
	if v.values == nil { // a new object; Copy clones a map for one
		v.values = map[K]V{}
	}
	v.values[key] = value
}
