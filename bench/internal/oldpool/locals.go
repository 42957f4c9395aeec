package oldpool

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// locals has one L for each P. A collection takes the whole array away, and the
// next use makes a new one.
type locals[L any] struct {
	array atomic.Pointer[[]L]
	mu    sync.Mutex // held while an array is made
}

// pinned pins the caller to its P and returns the L of that P and the array.
// The caller unpins.
func (l *locals[L]) pinned() (mine *L, all []L) {
	for {
		k := pin()
		if array := l.array.Load(); array != nil && k < len(*array) {
			return &(*array)[k], *array
		}
		unpin()
		l.grow(k)
	}
}

// grow makes an array with a place for P k. What was in an array that is too
// small is forgotten, as it is in sync.Pool.
func (l *locals[L]) grow(k int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if array := l.array.Load(); array == nil || k >= len(*array) {
		fresh := make([]L, max(k+1, runtime.GOMAXPROCS(0)))
		l.array.Store(&fresh)
	}
}

// take takes the array away.
func (l *locals[L]) take() *[]L { return l.array.Swap(nil) }
