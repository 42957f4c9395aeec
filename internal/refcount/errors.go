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
	Holders    []Holder
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
	return text + " [" + e.Type + "]" + List("; held by", e.Holders)
}

// Unwrap returns the error that ended the wait.
func (e *HeldError) Unwrap() error { return e.Err }

// HeldTooLongError is poolswap.HeldTooLongError, where each field is documented.
type HeldTooLongError struct {
	Type       string
	Version    uint64
	Age        time.Duration
	References int
	Holders    []Holder
}

// Error has the version, its age, and the holders that are known.
func (e *HeldTooLongError) Error() string {
	return fmt.Sprintf("poolswap: version %d of a %s was replaced %v ago and is still held (references: %d)", e.Version, e.Type, e.Age.Round(time.Millisecond), e.References) +
		List("; held by", e.Holders)
}

// mostListed is how many places a message has at most.
const mostListed = 8

// List returns the holders by place, for the end of a message.
func List(title string, holders []Holder) string {
	if len(holders) == 0 {
		return ""
	}
	var places []Holder
	var counts []int
	for _, h := range holders {
		at := slices.IndexFunc(places, func(p Holder) bool { return p.Version == h.Version && slices.Equal(p.Stack, h.Stack) })
		if at < 0 {
			at = len(places)
			places, counts = append(places, h), append(counts, 0)
		}
		counts[at]++
	}
	var text strings.Builder
	text.WriteString(title)
	for i, h := range places[:min(len(places), mostListed)] {
		text.WriteString("\n" + h.String())
		if counts[i] > 1 {
			fmt.Fprintf(&text, "\n\tand %d more there", counts[i]-1)
		}
	}
	if more := len(places) - mostListed; more > 0 {
		fmt.Fprintf(&text, "\nand %d more places", more)
	}
	return text.String()
}
