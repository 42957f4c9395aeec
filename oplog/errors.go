package oplog

import "fmt"

// ApplyError is the error of Publish if Apply failed. Nothing was published, and
// Copy makes the object that Apply may have left half changed anew before its next
// use. The error matches the errors that Err matches, such as ErrClosed of another
// container: if Apply can return such an error, look for an *ApplyError first.
type ApplyError struct {
	// Index is the operation's place among those given to Publish, or among
	// those that the object had missed.
	Index int
	// Missed is 0 if the operation was given to this Publish. Otherwise it is
	// the number of published operations that the object had missed: one that
	// succeeded for other objects failed for this one, so Apply is not
	// deterministic, and the operations of this Publish are right.
	Missed int
	// Err is the error of Apply.
	Err error
}

func (e *ApplyError) Error() string {
	if e.Missed > 0 {
		return fmt.Sprintf("oplog: operation %d of %d that a recycled object had missed failed, though it was published before (is Apply deterministic?): %v", e.Index, e.Missed, e.Err)
	}
	return fmt.Sprintf("oplog: operation %d: %v", e.Index, e.Err)
}

// Unwrap returns the error of Apply.
func (e *ApplyError) Unwrap() error { return e.Err }
