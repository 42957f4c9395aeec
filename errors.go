package poolswap

import (
	"errors"
	"fmt"

	"github.com/poolswap/poolswap/internal/refcount"
)

// ErrLimit is what TryGet returns if Options.MaxLive objects exist and none is
// free: readers still hold the old ones (Stats.Retired), or one is being reset
// or discarded (Stats.Resetting). Try again later.
var ErrLimit = errors.New("poolswap: the pool's limit of live objects is reached")

// Leak is what Options.Report receives when the garbage collector took an
// object that was still counted as held: a Release was forgotten, or a Close.
// The object is lost to recycling, and Discard is never called for it. A leak
// of the current object shows only after an Update and a collection.
type Leak struct {
	Type string // of the object
	Held int    // references that were never released
}

// Error says what was not released.
func (e *Leak) Error() string {
	return fmt.Sprintf("poolswap: a %s was dropped with %d references never released (a forgotten Release or Close?)", e.Type, e.Held)
}

// HookPanic is what Options.Report receives when the reset or Discard function
// of a pool panicked on the sweeper. The object that it was called for is
// gone; nothing else is affected.
type HookPanic struct {
	Value any    // what it panicked with
	Stack []byte // where, as debug.Stack prints it
}

// Error says that a hook panicked, and with what.
func (e *HookPanic) Error() string {
	return fmt.Sprintf("poolswap: reset or Discard panicked: %v", e.Value)
}

// Unwrap returns the value of the panic if it is an error.
func (e *HookPanic) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// OverRelease is what Options.Report receives when an object was released more
// often than it was acquired. The counts prove it when the object drains, so
// the writer or reader that finds it is seldom the one that did it: look for a
// Release that can run twice in the lifetime of this object. The pool gives the
// object up, since a reader may still hold it; nothing else is affected.
type OverRelease struct {
	Type       string  // of the object
	Object     uintptr // its address, which its other generations have too
	Generation uint64  // how often it had left the pool before
	Acquired   uint64  // in all generations
	Released   uint64
}

// Error says how often the object was released too often, and what is known of
// it.
func (e *OverRelease) Error() string { return refcount.Excess(*e).String() }
