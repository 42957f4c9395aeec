// Package slab stands for the library's.
package slab

type Strings struct{ _ int }

func (s *Strings) Get(key string) (string, bool) { return key, true }
