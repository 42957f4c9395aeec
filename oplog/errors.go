package oplog

import "fmt"

// ApplyError is the error of Publish if Apply failed. Nothing was published, and
// the object that Apply may have left half changed is made anew by Copy before it
// is used again. It matches what Err matches, as ErrClosed of another container, so
// look for an *ApplyError first if Apply can return such an error.
type ApplyError struct {
	// Index is the operation's place among those given to Publish, or among
	// those that the object had missed.
	Index int
	// Missed is 0 if the operation was given to this Publish. Otherwise it is
	// how many published operations the object had missed: one that succeeded
	// for other objects failed for this one, so Apply is not deterministic, and
	// nothing is wrong about the operations of this Publish.
	Missed int
	// Err is what Apply returned.
	Err error
}

func (e *ApplyError) Error() string {
	if e.Missed > 0 {
		return fmt.Sprintf("oplog: operation %d of %d that a recycled object had missed failed, though it was published before (is Apply deterministic?): %v", e.Index, e.Missed, e.Err)
	}
	return fmt.Sprintf("oplog: operation %d: %v", e.Index, e.Err)
}

// Unwrap returns what Apply returned.
func (e *ApplyError) Unwrap() error { return e.Err }
