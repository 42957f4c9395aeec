package refcount

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/poolswap/poolswap/internal/seam"
	"github.com/poolswap/poolswap/internal/stripe"
)

// references has a record of each reference to the traced versions of a pool. A
// Release gets a pointer that all holders share, so it takes the record that it most
// likely belongs to: the last that its own goroutine made, else the last of all.
// There are as many records as references either way.
type references struct {
	mu       seam.Mutex // readers of traced versions take it
	versions map[*stripe.Counters]*recorded
	leaked   []Holder // of versions that were collected: at most mostLeaked, the last
}

// mostLeaked bounds the records of references that can never be given back.
const mostLeaked = 64

// recorded is one traced version, until it has drained.
type recorded struct {
	version uint64
	holders []Holder
	takers  []uintptr // the goroutine that took each of holders

	// suspects are the Releases that took the record of another goroutine, or found
	// none: hand-overs, and those that came once too often.
	suspects []Holder
}

// mostSuspects is how many places of suspects are kept for a version.
const mostSuspects = 16

// Holder is poolswap.Holder, where each field is documented.
type Holder struct {
	Version uint64
	Since   time.Time
	Stack   []uintptr
}

// deepest is how many callers a record has.
const deepest = 16

// caller returns a Holder of now with the stack of the caller of the engine. It is
// called by a function that the read path calls.
func caller(version uint64) Holder {
	var stack [deepest]uintptr
	n := runtime.Callers(3, stack[:])
	return Holder{version, time.Now(), slices.Clone(stack[:n])}
}

// begin opens the records of a version that is about to be published.
func (r *references) begin(counters *stripe.Counters, version uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.versions == nil {
		r.versions = make(map[*stripe.Counters]*recorded)
	}
	r.versions[counters] = &recorded{version: version}
}

// end closes the records of a version to which no reference is left, or which was
// lost, and returns the suspects.
func (r *references) end(counters *stripe.Counters) []Holder {
	r.mu.Lock()
	defer r.mu.Unlock()
	v := r.versions[counters]
	delete(r.versions, counters)
	if v == nil {
		return nil
	}
	return v.suspects
}

// leak closes the records of a version that was collected, and keeps those of its
// holders, which it returns with the suspects.
func (r *references) leak(counters *stripe.Counters) (holders, suspects []Holder) {
	r.mu.Lock()
	defer r.mu.Unlock()
	v := r.versions[counters]
	delete(r.versions, counters)
	if v == nil {
		return nil, nil
	}
	r.leaked = append(r.leaked, v.holders...)
	r.leaked = slices.Delete(r.leaked, 0, max(0, len(r.leaked)-mostLeaked))
	return v.holders, v.suspects
}

// took records a reference of the calling goroutine.
func (r *references) took(counters *stripe.Counters) {
	holder, goroutine := caller(0), seam.Goroutine()
	r.mu.Lock()
	defer r.mu.Unlock()
	if v := r.versions[counters]; v != nil {
		holder.Version = v.version
		v.holders = append(v.holders, holder)
		v.takers = append(v.takers, goroutine)
	}
}

// gave removes the record of a reference that the calling goroutine gives back.
func (r *references) gave(counters *stripe.Counters) {
	goroutine := seam.Goroutine()
	r.mu.Lock()
	defer r.mu.Unlock()
	v := r.versions[counters]
	if v == nil { // it was lost: its records are closed
		return
	}
	last := len(v.takers) - 1
	at := last
	for at >= 0 && v.takers[at] != goroutine {
		at--
	}
	if at < 0 {
		at = last
		v.suspect()
	}
	if at < 0 {
		return
	}
	v.holders[at], v.takers[at] = v.holders[last], v.takers[last]
	v.holders[last] = Holder{} // it must not keep a stack alive
	v.holders, v.takers = v.holders[:last], v.takers[:last]
}

// suspect keeps the place of a Release, unless it is known.
func (v *recorded) suspect() {
	if len(v.suspects) == mostSuspects {
		return
	}
	place := caller(v.version)
	for _, known := range v.suspects {
		if slices.Equal(known.Stack, place.Stack) {
			return
		}
	}
	v.suspects = append(v.suspects, place)
}

// of returns the holders of one version.
func (r *references) of(counters *stripe.Counters) []Holder {
	r.mu.Lock()
	defer r.mu.Unlock()
	if v := r.versions[counters]; v != nil {
		return slices.Clone(v.holders)
	}
	return nil
}

// Holders returns all references to traced versions, ordered by version and time.
func (p *Pool) Holders() (all []Holder) {
	p.Check("Holders")
	r := &p.tracer.references
	r.mu.Lock()
	defer r.mu.Unlock()
	all = slices.Clone(r.leaked)
	for _, v := range r.versions {
		all = append(all, v.holders...)
	}
	sortHolders(all)
	return all
}

func sortHolders(all []Holder) {
	slices.SortFunc(all, func(a, b Holder) int {
		if a.Version != b.Version {
			return int(a.Version) - int(b.Version)
		}
		return a.Since.Compare(b.Since)
	})
}

// isOurs reports whether a function is of the part of the library that takes and gives
// back references for its caller.
func isOurs(function string) bool {
	const module = "github.com/poolswap/poolswap"
	return strings.HasPrefix(function, module+".") || strings.HasPrefix(function, module+"/internal/refcount.")
}

// String has the version, the time, and the functions and lines, without those of
// the library.
func (h Holder) String() string {
	var text strings.Builder
	fmt.Fprintf(&text, "version %d, since %s", h.Version, h.Since.Format("15:04:05.000"))
	frames := runtime.CallersFrames(h.Stack)
	for inside := true; ; {
		frame, more := frames.Next()
		inside = inside && isOurs(frame.Function)
		if frame.Function != "" && !inside && !strings.HasPrefix(frame.Function, "runtime.") {
			fmt.Fprintf(&text, "\n\t%s\n\t\t%s:%d", frame.Function, frame.File, frame.Line)
		}
		if !more {
			return text.String()
		}
	}
}
