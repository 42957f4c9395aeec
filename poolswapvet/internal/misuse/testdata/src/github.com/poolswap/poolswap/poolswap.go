// Package poolswap stands for the library: its names, without what they do.
package poolswap

import (
	"context"
	"iter"
)

type Ref struct{ _ int }

type Object[T any] interface{ *T }

type Container[T any, P Object[T]] struct{ current *T }

func (c *Container[T, P]) Acquire() *T             { return c.current }
func (c *Container[T, P]) Release(obj *T)          {}
func (c *Container[T, P]) Retain(obj *T) *T        { return obj }
func (c *Container[T, P]) GetNew() *T              { return nil }
func (c *Container[T, P]) Update(obj *T)           {}
func (c *Container[T, P]) WithAcquire(fn func(*T)) { fn(c.current) }
func (c *Container[T, P]) NewReader() *Reader[T]   { return nil }
func (c *Container[T, P]) Publish(ctx context.Context, fill func(next, current *T) error) (uint64, error) {
	return 0, fill(nil, c.current)
}

func (c *Container[T, P]) VersionOf(obj *T) uint64 { return 0 }

func (c *Container[T, P]) Versions(ctx context.Context) iter.Seq2[uint64, *T] {
	return func(yield func(uint64, *T) bool) { yield(1, c.current) }
}

type Pool[T any, P Object[T]] struct{ _ *T }

func (p *Pool[T, P]) Get() *T             { return nil }
func (p *Pool[T, P]) TryGet() (*T, error) { return nil, nil }
func (p *Pool[T, P]) Release(obj *T)      {}
func (p *Pool[T, P]) Refs(obj *T) int     { return 0 }

type Reader[T any] struct{ obj *T }

func (r *Reader[T]) Load() *T { return r.obj }
func (r *Reader[T]) Park()    {}
func (r *Reader[T]) Close()   {}
