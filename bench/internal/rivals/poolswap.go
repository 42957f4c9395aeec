package rivals

import "github.com/poolswap/poolswap"

// PoolSwap is this project's way.
type PoolSwap[T any] struct {
	*poolswap.Container[Object[T], *Object[T]]
	Pool *poolswap.Pool[Object[T], *Object[T]]
}

// NewPoolSwap returns an empty PoolSwap. Several writers at a time want as many
// spares as there are writers.
func NewPoolSwap[T any](f *Functions[T], options poolswap.Options[Object[T]]) *PoolSwap[T] {
	pool := poolswap.NewPoolWithOptions(f.make, func(obj *Object[T]) bool {
		f.Reset(&obj.Value)
		return true
	}, options)
	return &PoolSwap[T]{poolswap.NewEmptyContainer(pool), pool}
}

func (*PoolSwap[T]) recycles() {}
