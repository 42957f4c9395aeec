package reload

import (
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/poolswap/poolswap"
)

// Error is why an attempt failed. The current object stays. If load, the Source or
// its Content panicked, Err is a *poolswap.HookPanicError.
type Error struct {
	Source   string // its name
	Revision string // of the content, or "" if none was fetched
	Stage    Stage
	Refused  bool   // the content itself is bad; this revision is not fetched again
	Current  uint64 // the version that stays current, 0 if there is none
	Err      error

	delta bool // whole content is fetched at once
}

// Stage is the part of an attempt that failed.
type Stage string

// The stages of an attempt, in their order.
const (
	Fetching   Stage = "fetch"   // asking the Source
	Reading    Stage = "read"    // reading the Body
	Loading    Stage = "load"    // the function that New was given
	Verifying  Stage = "verify"  // Content.Verify, or Content.State
	Publishing Stage = "publish" // waiting for an object, or publishing it
)

func (e *Error) Error() string {
	of := ""
	if !nameSources(e.Err) {
		of = e.Source + ": "
	}
	if e.Revision != "" {
		of += fmt.Sprintf("revision %q: ", e.Revision)
	}
	next := "it is tried again"
	if e.Refused {
		next = "not tried again until the revision changes"
	}
	if e.delta {
		next = "the whole content is fetched at once"
	}
	kept := "nothing is loaded yet"
	if e.Current != 0 {
		kept = fmt.Sprintf("version %d stays", e.Current)
	}
	return fmt.Sprintf("reload: %s%s: %v (%s; %s)", of, e.Stage, e.Err, kept, next)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Retryable returns err marked as one that says nothing of the content: memory
// that was short, or another table that is not there yet. If load returns it, the
// content is not refused but fetched again. Retryable(nil) is nil.
func Retryable(err error) error {
	if err == nil {
		return nil
	}
	return &retryable{err}
}

type retryable struct{ error }

func (t *retryable) Unwrap() error { return t.error }

// recovered calls f, and returns its panic as an error.
func recovered(f func() error) (err error) {
	defer func() {
		if value := recover(); value != nil {
			err = &poolswap.HookPanicError{Value: value, Stack: debug.Stack()}
		}
	}()
	return f()
}

// retryAfter returns how long the source asked to be left alone, or 0.
func retryAfter(err error) (after time.Duration) {
	var asks interface{ RetryAfter() time.Duration }
	if errors.As(err, &asks) {
		recovered(func() error { after = asks.RetryAfter(); return nil }) //nolint:errcheck // of a nil pointer, say
	}
	return after
}
