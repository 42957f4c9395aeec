package reload

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"time"
)

// Source is where content comes from: [File], [HTTP], [FS], [Cache], [Join], or
// one of your own, which package reloadtest can test. One that wraps another embeds
// [Wrapper].
//
// Fetch returns the newest content, or ErrNotModified if have is its revision.
// have is a revision that the Source gave before, perhaps in an earlier process,
// or "" for none. The Reloader closes the content's Body; ctx lives until then.
// Fetch must be safe for concurrent use if several Reloaders share the Source.
//
// A Source that is a [fmt.Stringer] has that name in logs, errors and Status,
// so it must not show secrets.
type Source interface {
	Fetch(ctx context.Context, have string) (*Content, error)
}

// Waiter is a Source that knows when to ask. Wait returns nil when there may be
// content newer than have, and an error when ctx ends or it cannot tell. A nil is a
// hint only: the Reloader fetches now and then all the same.
type Waiter interface {
	Wait(ctx context.Context, have string) error
}

// Restorer is a Source that keeps content for the next process, such as a [Cache]. A
// Reloader loads the kept content first, and asks for something newer at once.
type Restorer interface {
	// Restore returns the kept content and when it was last known to be the newest, or
	// nil if nothing is kept. An error says why it cannot be used.
	Restore(ctx context.Context) (content *Content, checked time.Time, err error)
}

// ErrNotModified is the error of a Fetch that finds nothing newer.
var ErrNotModified = errors.New("reload: not modified")

// ErrChanged says that content changed while it was read. The Reloader reads it
// again.
var ErrChanged = errors.New("the content changed while it was read")

// Content is the result of a [Source]'s Fetch. load reads Body, once, to its end or not,
// or File.
type Content struct {
	// Revision names this content. Revisions have no order: two are equal or
	// not. A Source that gives "" is read whole at each attempt.
	Revision string

	// Base, if not "", is the revision that this content changes: it is a delta. Only
	// a Reloader of [NewLog] takes one, on the revision that [DeltaBase] told Fetch.
	Base string

	// State, if not "", is the digest of all rows once this content is loaded, in lower-case
	// hexadecimal: see [LogOptions.Digest]. Of a chain, that of the last part counts.
	State string

	// Size is the length of Body in bytes, or -1 if it is unknown. A Body of
	// another length is an error.
	Size int64

	// Modified is when the content was made, or zero if that is unknown.
	Modified time.Time

	// Body is the content. load need not close it.
	Body io.ReadCloser

	// File, if not nil, is the file that Body reads, open, for a load that maps
	// it into memory, as package mapped does: the name may stand for another file
	// by now. Its content is verified only after load, and those who can write to
	// it change a mapping later. load must not move its offset and not close it; a
	// mapping outlives the file.
	File *os.File

	// Parts, if there are any, is the content of each source of a [Join], in their
	// order. load may read them in any order, or side by side. Body is then all of
	// them, one after the other, and closes them. Size is their sum, or -1,
	// Modified the latest. Each part has its own File, Verify and Changed, which are nil
	// here. Parts can be a chain, too, which [Chain] makes: a content, and the deltas
	// since, the Base of each being the Revision of the one before.
	Parts []*Content

	// Source is the name of the source, for load's errors: which file has the bad
	// row. The Reloader, a Join and a [Fallback] set it, unless it is set.
	Source string

	// Stale, if not nil, is why there may be something newer: see Status.Stale. A
	// Fallback sets it, and a Source of your own can.
	Stale error

	// Changed, if not nil, returns ErrChanged once the content is not that which Fetch
	// returned any more: a file that was rewritten under its reader. It is called when
	// the Body was read, and before Close.
	Changed func() error

	// Verify, if not nil, is called with the SHA-256 of the whole Body when load
	// has returned nil, and before load, too, if a Cache has the Body. If it returns
	// an error, the content is not published.
	Verify func(sum [sha256.Size]byte) error

	// digest is the SHA-256 of the Body if it is known before load, as that of a
	// file in a Cache is: Verify is called with it first.
	digest *[sha256.Size]byte

	// proofs are the checksums or signatures that Verify compares with, the
	// innermost first, for a Cache to keep.
	proofs [][]byte

	// Published, if not nil, is called once the content is current.
	Published func() error

	// Accepted is true if the caller of Reloader.Accept wants this revision: load
	// can leave out the checks that an operator can overrule.
	Accepted bool

	// finish reads the rest of all Bodies for SHA256. The Reloader sets it.
	finish func() ([sha256.Size]byte, error)
}

// SHA256 returns the digest of the whole content, in hexadecimal, for load: the one
// that Status.SHA256 shows once the content is published. It reads the rest of
// Body, so load calls it after it has read Body, or instead. The error is that of
// reading. The digest says nothing about a checksum or signature, which the Reloader
// compares when load has returned. Only a Reloader's content has a SHA256.
func (c *Content) SHA256() (string, error) {
	if c.finish == nil {
		return "", errors.New("reload: SHA256 of content that no Reloader gave to load")
	}
	sum, err := c.finish()
	if err != nil {
		return "", err
	}
	return hex.EncodeToString(sum[:]), nil
}
