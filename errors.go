package poolswap

import (
	"errors"
	"fmt"
	"time"

	"github.com/poolswap/poolswap/internal/refcount"
)

// ErrLimit is the error of TryGet if Options.MaxLive objects exist and none is free:
// readers still hold the old ones (Stats.Retired), or one is being reset or
// discarded (Stats.Resetting). Try again later. A [HeldError] of Publish matches it.
var ErrLimit = refcount.ErrLimit

// ErrClosed is the error of Publish, Wait and TryGet once the container or the pool
// is closed, also if they were waiting then. Get, NewContainer and Update of an
// object have no error to return and panic.
var ErrClosed = refcount.ErrClosed

// ErrConflict is the error of Publish if an Update, Update(nil) included, took
// effect since fill was given current: next would have undone it. fill may have
// to run again, with the new current object.
var ErrConflict = refcount.ErrConflict

// ErrOverReleased matches an [OverReleaseError] in errors.Is. Without Options.Report,
// Publish and Close return one.
var ErrOverReleased = errors.New("poolswap: released more often than acquired")

// HeldError is the error of Drain, Close and Publish if the objects that they waited
// for did not come back: how many of which versions are held, and since when. It
// unwraps to the end of the wait: ctx's error, and ErrLimit where Publish waited for
// an object.
type HeldError struct {
	Op         string        // the call that waited: "Drain", "Close" or "Publish"
	Type       string        // of the objects
	Objects    int           // not current any more and held, by readers or as current by a fill
	References int           // to those
	Versions   []uint64      // of those, ascending
	Longest    time.Duration // since the first of those stopped being current
	Resetting  int           // objects that are free and await their reset or Discard, or are in it
	Private    int           // objects that writers own: from Get, or in fill
	Current    int           // objects that are current; for a Publish under Options.MaxLive
	Filling    bool          // a Publish of the container is in fill; for Container.Close
	Err        error         // the end of the wait
	Holders    []Holder      // references to those, as far as the versions are traced; see Pool.Trace
}

// Error has the end of the wait, the objects in the way, and the lines that hold them
// as far as they are known.
func (e *HeldError) Error() string {
	return (&refcount.HeldError{
		Op: e.Op, Type: e.Type, Objects: e.Objects, References: e.References, Versions: e.Versions, Longest: e.Longest,
		Resetting: e.Resetting, Private: e.Private, Current: e.Current, Filling: e.Filling, Err: e.Err,
		Holders: holders[refcount.Holder](e.Holders),
	}).Error()
}

// Unwrap returns Err.
func (e *HeldError) Unwrap() error { return e.Err }

// LeakError is the report to Options.Report that the garbage collector took an
// object that was still counted as held: a Release was forgotten, or a Close.
// The object is lost to recycling, and Discard is never called for it. A leak
// of the current object shows only after an Update and a collection.
type LeakError struct {
	Type string // of the object
	Held int    // references that were never released

	Holders []Holder // those, if the version was traced; see Pool.Trace
}

// Error has the type and the number of references.
func (e *LeakError) Error() string {
	return fmt.Sprintf("poolswap: a %s was dropped with %d references never released (a forgotten Release or Close?)", e.Type, e.Held) +
		refcount.List("; taken by", holders[refcount.Holder](e.Holders))
}

// HookPanicError is the error of a function of the program that panicked where no
// caller could recover it. Options.Report receives one if the reset or Discard
// function of a pool panicked on the sweeper: the object is gone, and nothing else
// is affected. Package reload returns one if load or a Source panicked.
type HookPanicError struct {
	Hook  string // the function; empty in package reload, whose Error names the stage
	Value any    // of the panic
	Stack []byte // where, as debug.Stack prints it
}

// Error has the function, the value of the panic and the stack.
func (e *HookPanicError) Error() string {
	text := fmt.Sprintf("panic: %v", e.Value)
	if e.Hook != "" {
		text = "poolswap: " + e.Hook + ": " + text
	}
	if len(e.Stack) > 0 {
		text += "\n" + string(e.Stack)
	}
	return text
}

// Unwrap returns the value of the panic if it is an error.
func (e *HookPanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// OverReleaseError is the report to Options.Report that an object was released more
// often than it was acquired. The counts prove it when the object drains, so the
// writer or reader that finds it is seldom the culprit: look for a Release that can
// run twice in the lifetime of this object. The pool gives the object up, since a
// reader may still hold it; nothing else is affected.
type OverReleaseError struct {
	Type       string  // of the object
	Object     uintptr // its address, which its other generations have too
	Generation uint64  // how often it had left the pool before
	Acquired   uint64  // in all generations, by Publish for its fill as well
	Released   uint64

	// Suspects are the Releases of a traced version that found no reference of their
	// own goroutine: the one too many, and those of references that were handed over
	// to another goroutine. Since is when it was released. See Pool.Trace.
	Suspects []Holder
}

// Error has the excess, the object and its counts, and the suspects.
func (e *OverReleaseError) Error() string {
	return (&refcount.OverReleaseError{
		Type: e.Type, Object: e.Object, Generation: e.Generation, Acquired: e.Acquired, Released: e.Released,
		Suspects: holders[refcount.Holder](e.Suspects),
	}).Error()
}

// Is reports whether target is [ErrOverReleased].
func (e *OverReleaseError) Is(target error) bool { return target == ErrOverReleased }

// closed is the result of Close: the end of the wait, and over-releases if there are
// any.
func closed(err error, excesses ...error) error {
	err = public(err)
	for _, excess := range excesses {
		if excess != nil {
			err = errors.Join(err, public(excess))
		}
	}
	return err
}

// public turns an error of the engine into the documented one.
func public(err error) error {
	switch e := err.(type) { //nolint:errorlint // an error of fill comes back unchanged
	case *refcount.HeldError:
		return &HeldError{
			Op: e.Op, Type: e.Type, Objects: e.Objects, References: e.References, Versions: e.Versions, Longest: e.Longest,
			Resetting: e.Resetting, Private: e.Private, Current: e.Current, Filling: e.Filling, Err: e.Err,
			Holders: holders[Holder](e.Holders),
		}
	case *refcount.OverReleaseError:
		return &OverReleaseError{
			Type: e.Type, Object: e.Object, Generation: e.Generation, Acquired: e.Acquired, Released: e.Released,
			Suspects: holders[Holder](e.Suspects),
		}
	}
	return err
}
