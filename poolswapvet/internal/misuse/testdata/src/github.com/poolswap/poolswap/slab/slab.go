// Package slab stands for the library's.
package slab

import "iter"

type Strings struct{ _ int }

func (s *Strings) Get(key string) (string, bool) { return key, true }

func (s *Strings) All() iter.Seq2[string, string] {
	return func(yield func(string, string) bool) { yield("", "") }
}

type Map[V any] struct{ v V }

func (m *Map[V]) All() iter.Seq2[string, V] {
	return func(yield func(string, V) bool) { yield("", m.v) }
}
