//go:build poolswapdebug

package poolswap

import (
	"sync/atomic"

	"github.com/poolswap/poolswap/internal/refcount"
)

// debugBuild says whether this is a build with the tag poolswapdebug.
const debugBuild = true

// readerUser is the goroutine that uses a Reader: the one that called Load, until Park
// or Close.
type readerUser struct{ goroutine atomic.Uintptr }

// check panics if another goroutine uses the Reader.
func (u *readerUser) check() {
	me := refcount.Goroutine()
	if !u.goroutine.CompareAndSwap(0, me) && u.goroutine.Load() != me {
		panic("poolswap: Load of a Reader that another goroutine uses (a Reader belongs to one goroutine; Park it before it passes to another)")
	}
}

// leave says that no goroutine uses the Reader.
func (u *readerUser) leave() { u.goroutine.Store(0) }
