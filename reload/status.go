package reload

import (
	"cmp"
	"errors"
	"time"

	"github.com/poolswap/poolswap"
)

// Outcome is how an attempt ended.
type Outcome string

// The outcomes of an attempt.
const (
	Loaded      Outcome = "loaded"       // new content was published
	NotModified Outcome = "not modified" // the Source had nothing newer
	Unchanged   Outcome = "unchanged"    // a new revision with the same bytes; nothing was published
	Failed      Outcome = "failed"

	// StillRefused: the Source has nothing newer than the refused content. Event.Err
	// is the error of the refusal.
	StillRefused Outcome = "still refused"
)

// Event is one attempt, for Options.Observe.
type Event struct {
	Outcome  Outcome
	At       time.Time     // when the attempt ended
	Revision string        // of the fetched content
	Base     string        // the revision that the content changes, if it is a delta
	DeltaErr error         // why a delta did not fit: this is the whole content, which was fetched at once
	Version  uint64        // that is current now
	SHA256   string        // of the content, in hexadecimal, if it was read whole; see Status
	Size     int64         // bytes read
	Fetch    time.Duration // until the Source had answered; a File waits for it to be at rest
	Load     time.Duration // load, reading to the end and verifying
	Stale    error         // there may be something newer: see Status.Stale
	ServedBy string        // whose content it is: see Status.ServedBy
	Err      error         // an *Error, if Outcome is Failed or StillRefused
	Repeats  int           // on the page and in its JSON: failures before this one with the same text
}

// Status is the state of a [Reloader], for people and programs.
type Status struct {
	Source   string
	Revision string    // of the loaded content, "" if there is none
	Version  uint64    // of the loaded object, 0 if there is none
	Loaded   time.Time // when it was published
	Modified time.Time // when its origin made it, if known
	SHA256   string    // of the loaded content, in hexadecimal: the same on each host, unlike the revision of a File; for a Join of the digests of its parts; after a delta of that alone
	Size     int64     // of the loaded content, in bytes
	Fetch    time.Duration
	Load     time.Duration
	Stale    error  // why there may be something newer than the content of a Cache, or of a later source of a Fallback: the origin has not answered since
	ServedBy string // the sources of a Fallback that the loaded content is of, "" if Source says all

	Checked  time.Time // when the loaded content was last known to be the newest
	Failures int       // failed attempts since then
	Refused  string    // the newest revision that is known, if its content was refused
	Err      error     // of the last failed attempt, even if attempts succeeded since, or the refusal that lasts
	Failed   time.Time // when that was
	Next     time.Time // when Run tries again, zero while it does not run

	Attempts, Swaps, TotalFailures uint64 // since New

	Deltas   uint64 // the Swaps by deltas
	DeltaErr error  // of the last delta that did not fit

	kept bool // the loaded content was restored
}

// Age is how long ago the current content was last known to be the newest, or 0
// if nothing is loaded.
func (s Status) Age() time.Duration {
	if s.Version == 0 {
		return 0
	}
	return max(0, time.Since(s.Checked)) // a clock can go back
}

// known returns the newest revision that is known.
func (s Status) known() string { return cmp.Or(s.Refused, s.Revision) }

// State is a [Status] in a word.
type State string

// The states of a Reloader.
const (
	Empty   State = "empty"   // no attempt has ended
	Failing State = "failing" // nothing could be loaded
	Fresh   State = "fresh"   // the newest content is loaded
	Stale   State = "stale"   // there may be something newer than the loaded content
	Refused State = "refused" // the newest content was refused
)

// State returns the status in a word.
func (s Status) State() State {
	switch {
	case s.Version == 0 && s.Failures > 0:
		return Failing
	case s.Version == 0:
		return Empty
	case s.Refused != "":
		return Refused
	case s.Failures > 0 || s.Stale != nil:
		return Stale
	}
	return Fresh
}

// Held returns the error that says who held the objects, if the last attempt failed
// because it waited for one too long, or nil.
func (s Status) Held() *poolswap.HeldError {
	var held *poolswap.HeldError
	if s.Failures > 0 && errors.As(s.Err, &held) {
		return held
	}
	return nil
}

// Status returns the status of r. It waits for nothing long.
func (r *Reloader) Status() Status {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.status
}
