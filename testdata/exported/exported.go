// Package exported has one of each kind of declaration, for the test that lists
// them.
package exported

import (
	"io"
	"sync/atomic"
)

// Limit is a constant without a type, Small one with a type.
const (
	Limit        = 1 << 40
	Small  Level = 2
	hidden       = 3
)

// ErrClosed is a variable, and so is Default.
var (
	ErrClosed error
	Default   = Level(hidden)
)

// Level has a method on its values.
type Level int

// String is on values.
func (Level) String() string { return "" }

// Source is an interface with a method that only this package can have.
type Source interface {
	io.Reader
	Close() error
	private()
}

// Number is a constraint.
type Number interface{ ~int | ~int64 }

// Base is embedded.
type Base struct {
	Name string `json:"name"`
	n    atomic.Int64
}

// Add is on pointers.
func (b *Base) Add(n int64) { b.n.Add(n) }

type inner struct{ Depth int }

// Up is seen through what embeds inner.
func (inner) Up() {}

// Pair is generic.
type Pair[K comparable, V any] struct {
	Base
	inner
	Key   K
	Value *V
	hook  func(V)
}

// Swap is a method of a generic type.
func (p *Pair[K, V]) Swap(to K, with ...V) (old K, ok bool) { return p.Key, p.hook != nil }

func (p *Pair[K, V]) hiddenMethod() {}

// Alias is another name.
type Alias = Pair[string, []byte]

// Named is an alias with parameters of its own.
type Named[V any] = Pair[string, V]

// Make is a generic function.
func Make[N Number, P interface{ *N }](from N, each func(P) error) *Pair[N, P] {
	(&Pair[N, P]{}).hiddenMethod()
	return nil
}
