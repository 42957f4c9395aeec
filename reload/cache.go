package reload

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// Cache returns a Source that keeps the last good content of source in dir, one
// directory for each Source. A service that starts while the origin is down
// loads what is there, even if what the origin has is refused or does not arrive
// whole, and one that starts while the origin has nothing newer need not transfer
// it. Content.File is the file in dir, for a load that maps it.
//
// Content is written whole before load sees it, and kept for the next start once
// it was published; only then what was kept before is deleted. A kept file whose
// SHA-256 is not the recorded one is not used. dir is made if it is missing; a
// failure to write there is a failure to fetch.
func Cache(source Source, dir string) Source {
	return &cacheSource{source: source, dir: dir, inUse: map[string]int{}}
}

type cacheSource struct {
	source Source
	dir    string

	mu    sync.Mutex     // guards what follows, and that what is in use is not swept
	max   int64          // the largest Options.MaxBytes of its Reloaders, 0 for none
	inUse map[string]int // files of attempts that run

	settled bool // whether something was published, or what dir holds was offered in vain
}

// bound implements bounded: what is refused for its size need not be spooled.
func (c *cacheSource) bound(maxBytes int64) {
	c.mu.Lock()
	c.max = max(c.max, maxBytes)
	c.mu.Unlock()
	bound(c.source, maxBytes)
}

func (c *cacheSource) maxBytes() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return cmp.Or(c.max, DefaultMaxBytes)
}

// kept says which content dir holds, in its file kept.json.
type kept struct {
	Source   string    `json:"source"`
	Revision string    `json:"revision"`
	SHA256   string    `json:"sha256"`
	Size     int64     `json:"size"`
	Modified time.Time `json:"modified,omitzero"`
}

const (
	keptName      = "kept.json"
	contentSuffix = ".content"
	partSuffix    = ".part"
)

// copyBuffer is half of what io.Copy takes: an update allocates little.
const copyBuffer = 16 << 10

// String returns the name of the source that is cached.
func (c *cacheSource) String() string { return nameOf(c.source) }

// Wait implements Waiter.
func (c *cacheSource) Wait(ctx context.Context, have string) error {
	return waitFor(ctx, c.source, have)
}

// Fetch implements Source.
func (c *cacheSource) Fetch(ctx context.Context, have string) (*Content, error) {
	if have != "" {
		content, err := c.fetch(ctx, have)
		if err == nil || !c.mayOffer() {
			return content, err
		}
		return c.instead(have, err)
	}
	file, last, cacheErr := c.open()
	content, err := c.fetch(ctx, last.Revision)
	switch {
	case file == nil && err != nil && cacheErr != nil:
		return nil, fmt.Errorf("%w; %w", err, cacheErr)
	case file == nil:
		return content, err
	case err == nil:
		file.Close()
		return content, nil
	case errors.Is(err, ErrNotModified):
		err = nil
	}
	return c.kept(&last, file, err), nil
}

// fetch fetches from the source what it has, into dir.
func (c *cacheSource) fetch(ctx context.Context, have string) (*Content, error) {
	content, err := c.source.Fetch(ctx, have)
	if err != nil {
		return nil, err
	}
	return c.spool(content)
}

// mayOffer reports whether nothing was published yet, so that what was fetched
// was refused, and what dir holds was not offered in its place.
func (c *cacheSource) mayOffer() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return !c.settled
}

var errRefused = errors.New("the newest content was refused")

// instead returns what dir holds in place of have, which was refused, once. err
// is why there is nothing newer.
func (c *cacheSource) instead(have string, err error) (*Content, error) {
	file, last, _ := c.open()
	switch {
	case file == nil:
		return nil, err
	case last.Revision == have:
		file.Close()
		return nil, err
	case errors.Is(err, ErrNotModified):
		err = errRefused
	}
	c.settle()
	return c.kept(&last, file, err), nil
}

// settle notes that dir has nothing more to offer until the next start.
func (c *cacheSource) settle() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.settled = true
}

// kept returns what dir holds.
func (c *cacheSource) kept(last *kept, file *os.File, stale error) *Content {
	content := last.content(file, stale)
	content.Published = func() error { c.settle(); return nil }
	return content
}

// open opens what dir holds, and returns nil and a zero kept if there is nothing
// that can be used.
func (c *cacheSource) open() (_ *os.File, last kept, err error) {
	text, err := os.ReadFile(filepath.Join(c.dir, keptName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, kept{}, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &last)
	}
	if err == nil && last.Source != c.String() {
		err = fmt.Errorf("it is of another source, %s", last.Source)
	}
	if err != nil {
		return nil, kept{}, fmt.Errorf("the cache in %s: %w", c.dir, err)
	}
	file, err := os.Open(filepath.Join(c.dir, last.fileName()))
	if err == nil {
		if err = last.check(file); err != nil {
			file.Close()
		}
	}
	if err != nil {
		return nil, kept{}, fmt.Errorf("the cache in %s: %w", c.dir, err)
	}
	return file, last, nil
}

// check fails unless file has the recorded size and digest.
func (k *kept) check(file *os.File) error {
	sum := sha256.New()
	size, err := io.CopyBuffer(sum, fromStart(file), make([]byte, copyBuffer))
	if err != nil {
		return err
	}
	if size != k.Size || hex.EncodeToString(sum.Sum(nil)) != k.SHA256 {
		return errors.New("its content is damaged")
	}
	return nil
}

func (k *kept) content(file *os.File, stale error) *Content {
	return &Content{Revision: k.Revision, Size: k.Size, Modified: k.Modified, Body: &fileReader{fromStart(file), file}, File: file, Stale: stale}
}

// fileReader reads a file and closes it.
type fileReader struct {
	io.Reader
	io.Closer
}
