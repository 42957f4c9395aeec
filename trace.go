package poolswap

import (
	"time"

	"github.com/poolswap/poolswap/internal/refcount"
)

// Trace has the pool record the references to the versions that its next publications
// make: as many as the number says, all until Trace(0) for a negative one. All
// references to a traced version are recorded until the last is given back, by Acquire,
// Retain, WithAcquire, a [Reader], Versions, and current in fill; those to other versions
// are not. [Pool.Holders] lists them, with the stack of the caller. The environment
// variable POOLSWAP_TRACE=1 is Trace(-1) for each pool when it is made.
//
// While a traced version is current, a read costs about a microsecond and takes a
// mutex, in every container of the pool; so does the Release of a traced version. All
// other reads cost nothing for it. The first traced publication after others that
// were not stops the world once, for some tens of microseconds.
func (p *Pool[T, P]) Trace(versions int) { p.engine.Trace(versions) }

// Holders returns each reference to a traced version that was taken and not given back,
// ordered by version and time, those to current versions included. See [Pool.Trace]
// and Options.HeldTooLong. Of versions that the garbage collector has taken although
// they were held, the last 64 references stay in the list.
//
// A Release gets a pointer that all holders share. It removes the record of its own
// goroutine, and the last of another goroutine if there is none. So the number of
// records is right, and if a reference was handed over to another goroutine, the wrong
// one of two holders of one version may be named.
func (p *Pool[T, P]) Holders() []Holder { return holders[Holder](p.engine.Holders()) }

// Holder is a reference to a traced version.
type Holder struct {
	Version uint64
	Since   time.Time // when it was taken
	Stack   []uintptr // of its taker, for runtime.CallersFrames; it begins inside the library
}

// String has the version, the time, and the functions and lines of the program.
func (h Holder) String() string { return refcount.Holder(h).String() }

// HeldTooLongError is the report to Options.Report that readers hold a version for
// longer than Options.HeldTooLong after it was replaced. Each version is reported once,
// by the first publication after that time.
type HeldTooLongError struct {
	Type       string        // of the object
	Version    uint64        // that was replaced
	Age        time.Duration // since then
	References int           // to it
	Holders    []Holder      // those, if the version was traced; see Pool.Trace
}

// Error has the version, its age, and the lines that hold it as far as they are known.
func (e *HeldTooLongError) Error() string {
	return (&refcount.HeldTooLongError{
		Type: e.Type, Version: e.Version, Age: e.Age, References: e.References,
		Holders: holders[refcount.Holder](e.Holders),
	}).Error()
}

// holder is a Holder of this package or of the engine.
type holder interface {
	~struct {
		Version uint64
		Since   time.Time
		Stack   []uintptr
	}
}

// holders converts one into the other.
func holders[To, From holder](from []From) []To {
	if from == nil {
		return nil
	}
	to := make([]To, len(from))
	for i, h := range from {
		to[i] = To(h)
	}
	return to
}
