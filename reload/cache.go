package reload

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"
	"time"
)

// Cache returns a Source that keeps the last good content of source in dir, one
// directory for each Source. A service that starts loads the kept content, and then
// asks the origin for something newer: it can answer at once, also while the
// origin is down, and load can compare new content with it. Content.File is the
// file in dir, for a load that maps it.
//
// Content is written whole before load sees it, and kept for the next start once
// it was published; only then the content kept before is deleted. A kept file whose
// SHA-256 is not the recorded one is not used, nor one that was kept with other
// checks. Kept content is verified again, with the
// checksum or signature that was kept beside it, at each start. A Verify of a Source
// of your own is called before content is kept, and not at the next start; one that
// calls that of a [VerifySHA256] or [VerifySigned] within is an error. dir is
// made for this user alone if it is missing; a failure to write there is a failure to
// fetch. A second process in dir keeps nothing, which a warning says at each publication;
// on Windows, and on file systems without flock, nothing tells it. A user who can write to dir
// can put content there that nothing signs, bring back older content with its signature
// until the origin answers, and change Content.File after it was verified.
//
// Of content with deltas, for a Reloader of [NewLog], it keeps the whole and the deltas
// since, until these have a quarter of its bytes or are 256.
//
// Cache panics if source is a [Join] or a [Fallback]: each of its sources has a Cache of
// its own, as in Join(Cache(a, dirA), Cache(b, dirB)).
func Cache(source Source, dir string) Source {
	refuseJoin(source, "Cache", "Join(Cache(a, dirA), Cache(b, dirB))")
	if _, ok := source.(*fallbackSource); ok { // content of one that verifies less would pass for that of another
		panic("reload: Cache of a Fallback: put it around the sources of the Fallback, as in Fallback(Cache(a, dirA), Cache(b, dirB))")
	}
	return &cacheSource{source: source, dir: dir, inUse: map[string]int{}}
}

type cacheSource struct {
	source  Source
	dir     string
	started sync.Once // removes the leftovers of earlier processes

	mu    sync.Mutex     // guards the fields below, and files in use from the sweep
	lock  *dirLock       // nil until this process has it
	inUse map[string]int // files of attempts that run
	last  kept           // the kept content, zero if it is not known yet

	unkept      int // deltas since, which were not kept
	unkeptBytes int64
}

// kept says which content dir holds, in its file kept.json.
type kept struct {
	Source   string    `json:"source,omitempty"`
	Identity string    `json:"identity,omitempty"` // see identify
	Revision string    `json:"revision"`
	State    string    `json:"state,omitempty"`
	SHA256   string    `json:"sha256"`
	Size     int64     `json:"size"`
	Modified time.Time `json:"modified,omitzero"`
	Proofs   [][]byte  `json:"proofs,omitempty"` // see Content
	Deltas   []kept    `json:"deltas,omitempty"` // since, without Source, Identity and Deltas

	Sum string `json:"sum,omitempty"` // see sum

	verify  verifyFunc  // verifies the content, or nil
	record  fs.FileInfo // of kept.json
	checked time.Time   // when it was last known to be the newest
}

// identify returns a digest that differs between sources of the same name, such as
// the same path with another query, or without a signature. It is salted and cut to
// four bytes, so that it does not give away a key.
func identify(source Source, salt string) string {
	sum := sha256.Sum256([]byte(salt + identityOf(source)))
	return salt + hex.EncodeToString(sum[:4])
}

// saltSize is the length of a salt, in hexadecimal digits.
const saltSize = 16

// newSalt returns a salt.
func newSalt() string {
	salt := make([]byte, saltSize/2)
	rand.Read(salt)
	return hex.EncodeToString(salt)
}

const (
	keptName      = "kept.json"
	contentSuffix = ".content"
	partSuffix    = ".part"
)

// copyBuffer is half of io.Copy's buffer: an update allocates little.
const copyBuffer = 16 << 10

// String returns the name of the source that is cached.
func (c *cacheSource) String() string { return nameOf(c.source) }

// keptName is the name of the source in a record, which is text.
func (c *cacheSource) keptName() string { return strings.ToValidUTF8(c.String(), "\uFFFD") }

// Wait implements Waiter.
func (c *cacheSource) Wait(ctx context.Context, have string) error {
	return waitFor(ctx, c.source, have)
}

// Identity implements Identifier.
func (c *cacheSource) Identity() string { return identityOf(c.source) }

// Fetch implements Source.
func (c *cacheSource) Fetch(ctx context.Context, have string) (*Content, error) {
	if c.full(MaxBytes(ctx)) {
		ctx = withDeltaBase(ctx, "")
	}
	content, err := c.source.Fetch(ctx, have)
	if err != nil {
		if errors.Is(err, ErrNotModified) && staleOf(err) == nil {
			c.confirm(have)
		}
		return nil, err
	}
	return c.spool(ctx, content)
}

// Restore implements Restorer.
func (c *cacheSource) Restore(ctx context.Context) (*Content, time.Time, error) {
	inUse := c.own()
	content, last, err := c.open(ctx)
	if content == nil {
		return nil, time.Time{}, err
	}
	c.found(last)
	if inUse != nil {
		content.Published = func() error { return inUse }
	}
	return content, last.checked, nil
}

// found notes the kept content, unless another attempt has replaced it by now.
func (c *cacheSource) found(last kept) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.last.SHA256 == "" {
		c.last = last
	}
}

// confirm notes for the next start that a revision is the newest, if it is the kept
// one: by the time of kept.json.
func (c *cacheSource) confirm(revision string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if revision == "" || revision != c.last.newest() {
		return
	}
	root, err := os.OpenRoot(c.dir)
	if err != nil {
		return // Age will be too large
	}
	defer root.Close()
	if info, err := root.Lstat(keptName); err == nil && os.SameFile(info, c.last.record) {
		root.Chtimes(keptName, time.Time{}, time.Now()) //nolint:errcheck // the same
	}
}

// open opens the content that dir holds, and returns nil and a zero kept if there is
// nothing that can be used. Of deltas it returns those before the first that cannot.
func (c *cacheSource) open(ctx context.Context) (_ *Content, last kept, err error) {
	last, err = readKept(c.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, kept{}, nil
	}
	if err == nil {
		err = cmp.Or(last.of(c), last.within(MaxBytes(ctx)))
	}
	if err != nil {
		return nil, kept{}, c.unusable(err)
	}
	first, at, err := c.openOne(ctx, &last)
	if err != nil {
		return nil, kept{}, c.unusable(err)
	}
	contents, deltas := []*Content{first}, last.Deltas
	for i := range deltas {
		delta, written, unusable := c.openOne(ctx, &deltas[i])
		if unusable != nil {
			last.Deltas, last.checked = deltas[:i], at // when that was the newest
			err = c.unusable(fmt.Errorf("delta %d: %w", i+1, unusable))
			break
		}
		at = written
		delta.Base = contents[i].Revision
		contents = append(contents, delta)
	}
	content := chainOf(c.String(), contents)
	content.Stale = err
	return content, last, nil
}

func (c *cacheSource) unusable(err error) error { return fmt.Errorf("the cache in %s: %w", c.dir, err) }

// openOne opens the content of one record, and returns when it was written.
func (c *cacheSource) openOne(ctx context.Context, one *kept) (_ *Content, at time.Time, err error) {
	if one.verify, err = verifyKept(ctx, c.source, one.Revision, one.Proofs); err != nil {
		return nil, at, err
	}
	file, info, err := openKept(c.dir, one.fileName())
	if err != nil {
		return nil, at, err
	}
	if err := one.check(ctx, file, info.Size()); err != nil {
		file.Close()
		return nil, at, err
	}
	return one.content(file), inJSON(info.ModTime()), nil
}

// maxKept bounds the length of kept.json.
const maxKept = 1 << 20

// readKept reads the record in dir.
func readKept(dir string) (last kept, err error) {
	file, info, err := openKept(dir, keptName)
	if err != nil {
		return kept{}, err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxKept))
	if err != nil {
		return kept{}, err
	}
	if err := json.Unmarshal(text, &last); err != nil {
		return kept{}, fmt.Errorf("%.200s", err.Error()) // it may quote a megabyte
	}
	if last.Sum != last.sum() {
		return kept{}, errRecord
	}
	last.record, last.checked = info, inJSON(info.ModTime())
	return last, nil
}

// openKept opens a regular file in dir. Others may write to dir, so a link does not lead
// out of it.
func openKept(dir, name string) (*os.File, fs.FileInfo, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, nil, err
	}
	defer root.Close()
	return opened(name, func() (*os.File, error) { return root.OpenFile(name, os.O_RDONLY|nonBlocking, 0) })
}

// of fails unless the kept content is of the Cache's source.
func (k *kept) of(c *cacheSource) error {
	switch salt := k.Identity[:min(saltSize, len(k.Identity))]; {
	case k.Source != c.keptName():
		return fmt.Errorf("it is of another source, %.200q", k.Source)
	case k.Identity != identify(c.source, salt):
		return errors.New("it is of a source with another query or other checks")
	case slices.ContainsFunc(k.all(), func(one kept) bool { return len(one.SHA256) != hex.EncodedLen(sha256.Size) }):
		return errDamaged
	}
	return nil
}

// within fails if the kept content is more than a Reloader takes: to open and hash that
// could take all files and much time of the service.
func (k *kept) within(maxBytes int64) error {
	if n := len(k.Deltas); n > maxDeltas {
		return fmt.Errorf("its record has %d deltas, more than %d", n, maxDeltas)
	}
	room := maxBytes
	for _, one := range k.all() {
		if room -= max(0, one.Size); room < 0 {
			return fmt.Errorf("%w (%d)", errTooLarge, maxBytes)
		}
	}
	return nil
}

// sum returns a digest of the record: a delta must not be applied to a base whose revision
// was damaged. It is no secret, so it tells no attack.
func (k *kept) sum() string {
	unsummed := *k
	unsummed.Sum = ""
	text, _ := json.Marshal(unsummed) //nolint:errchkjson // it came from JSON, or goes there
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}

var errRecord = errors.New("its record is damaged, or of another version of poolswap")

var errDamaged = errors.New("its content is damaged")

// check fails unless file, which has that size, has the recorded size and digest, and
// is verified. It reads no more than that.
func (k *kept) check(ctx context.Context, file *os.File, size int64) error {
	if size != k.Size {
		return errDamaged
	}
	sum := sha256.New()
	size, err := io.CopyBuffer(sum, contextReader{io.NewSectionReader(file, 0, size), ctx}, make([]byte, copyBuffer))
	if err != nil {
		return err
	}
	if size != k.Size || hex.EncodeToString(sum.Sum(nil)) != k.SHA256 {
		return errDamaged
	}
	if k.verify != nil {
		return k.verify([sha256.Size]byte(sum.Sum(nil)))
	}
	return nil
}

// content returns the content in file. It is verified again by the bytes that load
// read, since others may write to the directory.
func (k *kept) content(file *os.File) *Content {
	digest, _ := hex.DecodeString(k.SHA256) // this process has written or compared it
	return &Content{
		Revision: k.Revision, State: k.State, Size: k.Size, Modified: k.Modified, proofs: k.Proofs, digest: (*[sha256.Size]byte)(digest),
		Body: &fileReader{fromStart(file), file}, File: file,
		Verify: func(sum [sha256.Size]byte) error {
			if hex.EncodeToString(sum[:]) != k.SHA256 {
				return fmt.Errorf("the file %s was changed while it was read", file.Name())
			}
			if k.verify != nil {
				return k.verify(sum)
			}
			return nil
		},
	}
}

// fileReader reads a file and closes it.
type fileReader struct {
	io.Reader
	io.Closer
}
