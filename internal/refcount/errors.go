package refcount

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Errors that poolswap documents under the same names.
var (
	ErrLimit    = errors.New("poolswap: the pool's limit of live objects is reached")
	ErrClosed   = errors.New("poolswap: closed")
	ErrConflict = errors.New("poolswap: another publication took effect since the current object was taken")
)

// HeldError is poolswap.HeldError, where each field is documented.
type HeldError struct {
	Op         string
	Type       string
	Objects    int
	References int
	Versions   []uint64
	Private    int
	Current    int
	Filling    bool
	Longest    time.Duration
	Err        error
}

// Error says what op waited for.
func (e *HeldError) Error() string {
	var what []string
	if n := e.Objects; n > 0 {
		held := fmt.Sprintf("%d replaced, with %d references", n, e.References)
		if len(e.Versions) > 0 {
			held += fmt.Sprintf(", of versions %d", e.Versions)
		}
		what = append(what, held+fmt.Sprintf(", for up to %v", e.Longest.Round(time.Millisecond)))
	}
	if e.Private > 0 {
		what = append(what, fmt.Sprintf("%d with writers", e.Private))
	}
	if e.Current > 0 {
		what = append(what, fmt.Sprintf("%d current", e.Current))
	}
	if e.Filling {
		what = append(what, "a Publish is in fill")
	}
	if len(what) == 0 {
		what = append(what, "nothing any more")
	}
	return fmt.Sprintf("poolswap: %s waited for objects of type %s: %s: %v", e.Op, e.Type, strings.Join(what, "; "), e.Err)
}

// Unwrap returns what ended the wait.
func (e *HeldError) Unwrap() error { return e.Err }

// held describes the objects that op waited for: those of them that wanted
// accepts.
func (p *Pool) held(op string, err error, wanted func(*entry) bool) *HeldError {
	e := &HeldError{Op: op, Type: p.TypeName, Err: err}
	p.registry.each(func(obj *entry) bool {
		switch {
		case !wanted(obj):
		case obj.mark != 0:
			e.Objects++
			e.References += max(0, obj.counters.Outstanding())
			e.Longest = max(e.Longest, p.leftFor(obj.counters))
			if version := obj.counters.Publication.Version.Load(); version != 0 {
				e.Versions = append(e.Versions, version)
			}
		case obj.phase == live:
			e.Current++
		case obj.phase == private || obj.phase == unborn:
			e.Private++
		}
		return true
	})
	slices.Sort(e.Versions)
	return e
}
