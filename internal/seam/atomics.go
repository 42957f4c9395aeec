//go:build !poolswapsched

package seam

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// Uint64 is a word of shared state, sequentially consistent.
type Uint64 = atomic.Uint64

// Bool is a shared flag, sequentially consistent.
type Bool = atomic.Bool

// Pointer is a shared pointer, sequentially consistent.
type Pointer[T any] = atomic.Pointer[T]

// SetOnce is a shared pointer that is nil until a compare-and-swap sets it, and
// constant from then on.
type SetOnce[T any] = atomic.Pointer[T]

// Mutex is a lock of writers. Readers never take one.
type Mutex = sync.Mutex

// Go starts f on a new goroutine. If the function value f exists already, it
// allocates no more than the runtime does for a goroutine: nothing once one ended.
func Go(f func()) { go f() }

// AddCleanup is runtime.AddCleanup.
func AddCleanup[T, A any](ptr *T, cleanup func(A), arg A) {
	runtime.AddCleanup(ptr, cleanup, arg)
}

// Fence is a full memory fence. Its locked instruction changes a word of the
// caller's stack, because all callers would compete for the cache line of a
// shared word.
func Fence() {
	var word atomic.Int32
	word.Add(1)
}
