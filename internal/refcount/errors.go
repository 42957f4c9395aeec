package refcount

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// Errors that poolswap documents under the same names.
var (
	ErrLimit    = errors.New("poolswap: as many objects exist as Options.MaxLive allows, and none is free")
	ErrClosed   = errors.New("poolswap: the container or the pool is closed")
	ErrConflict = errors.New("poolswap: an Update took effect since fill was given current")
)

// HeldError is poolswap.HeldError, where each field is documented.
type HeldError struct {
	Op         string
	Type       string
	Objects    int
	References int
	Versions   []uint64
	Longest    time.Duration
	Resetting  int
	Private    int
	Current    int
	Filling    bool
	Err        error
}

// Error names the end of the wait, and the objects in the way.
func (e *HeldError) Error() string {
	text := "poolswap: " + e.Op + ": " + strings.TrimPrefix(e.Err.Error(), "poolswap: ")
	if e.Objects > 0 {
		text += fmt.Sprintf("; still held: %d (references: %d, versions: %d, longest: %v)", e.Objects, e.References, e.Versions, e.Longest.Round(time.Millisecond))
	}
	for _, part := range []struct {
		name string
		n    int
	}{{"awaiting reset or discard", e.Resetting}, {"with writers", e.Private}, {"current", e.Current}} {
		if part.n > 0 {
			text += fmt.Sprintf("; %s: %d", part.name, part.n)
		}
	}
	if e.Filling {
		text += "; a Publish is in fill"
	}
	return text + " [" + e.Type + "]"
}

// Unwrap returns the error that ended the wait.
func (e *HeldError) Unwrap() error { return e.Err }
