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
	"math"
	"os"
	"path/filepath"
	"strings"
)

// spool writes content to dir and returns it as a file, or those of a chain. It returns
// content that is announced to be too large as it is, for the Reloader to refuse it: that
// need not be written first.
func (c *cacheSource) spool(ctx context.Context, content *Content) (_ *Content, err error) {
	if err := content.closeMalformed(); err != nil {
		return nil, err
	}
	maxBytes := MaxBytes(ctx)
	if content.Size > maxBytes {
		return content, nil
	}
	defer content.Body.Close()
	if len(content.Parts) > 0 && !content.isChain() {
		return nil, errors.New("a Cache cannot keep content with Parts: put one around the source of each part")
	}
	if err := os.MkdirAll(c.dir, 0o700); err != nil {
		return nil, err
	}
	inUse := c.own()
	var files partsBody
	var records []kept
	for _, one := range content.contents() {
		file, record, err := c.spoolOne(ctx, one, inUse, maxBytes)
		if err != nil {
			files.Close()
			if inUse == nil {
				c.sweep(namesOf(records))
			}
			return nil, err
		}
		files, records = append(files, file), append(records, record)
		maxBytes = max(0, maxBytes-record.Size)
	}
	spooled := chainOf(content.Source, files)
	if inUse == nil {
		spooled.Body = &spooledBody{spooled.Body, c, namesOf(records)}
	}
	spooled.Base, spooled.Stale = content.Base, content.Stale
	spooled.Published = func() error {
		err := inUse
		if err == nil {
			switch err = c.keep(content.Base, records); {
			case err == nil:
			case content.isDelta():
				c.notKept(records)
			default:
				c.forget(&records[len(records)-1])
			}
		}
		if content.Published != nil {
			err = errors.Join(err, content.Published())
		}
		return err
	}
	return spooled, nil
}

// spoolOne writes content without Parts to dir.
func (c *cacheSource) spoolOne(ctx context.Context, content *Content, inUse error, maxBytes int64) (_ *Content, last kept, err error) {
	if _, err := verifyKept(ctx, c.source, content.Revision, content.proofs); err != nil {
		return nil, kept{}, err
	}
	part, err := os.CreateTemp(c.dir, "*"+partSuffix)
	if err != nil {
		return nil, kept{}, err
	}
	last = kept{Revision: content.Revision, State: content.State, Modified: inJSON(content.Modified), Proofs: content.proofs, verify: content.Verify}
	if last.verify != nil && len(last.Proofs) == 0 {
		last.verify = refuseHidden(ctx, last.verify)
	}
	written := recovered(func() error { return last.write(ctx, part, content, maxBytes) })
	file, err := c.named(part, &last, written, inUse)
	if err != nil {
		return nil, kept{}, err
	}
	spooled := last.content(file)
	if last.Size > maxBytes { // a Reloader whose ctx does not come here may allow more than was written
		spooled.Body = &fileReader{io.MultiReader(spooled.Body, failingReader{fmt.Errorf("%w (%d)", errTooLarge, maxBytes)}), file}
	}
	spooled.Base = content.Base
	return spooled, last, nil
}

// fileName is the name of the content's file in dir.
func (k *kept) fileName() string { return k.SHA256 + contentSuffix }

// write copies content into part, up to the first byte that is too much: the
// Reloader has to see it.
func (k *kept) write(ctx context.Context, part *os.File, content *Content, maxBytes int64) (err error) {
	sum := sha256.New()
	body := io.LimitReader(contextReader{content.Body, ctx}, min(maxBytes, math.MaxInt64-1)+1)
	if k.Size, err = io.CopyBuffer(io.MultiWriter(part, sum), body, make([]byte, copyBuffer)); err != nil {
		return err
	}
	if content.Size >= 0 && content.Size != k.Size {
		return wrongLength(k.Size, content.Size)
	}
	if content.Changed != nil {
		if err := content.Changed(); err != nil {
			return err
		}
	}
	if err := part.Sync(); err != nil {
		return err
	}
	k.SHA256 = hex.EncodeToString(sum.Sum(nil))
	return nil
}

// named returns the file that was written, under its name unless another process has the
// directory: that would remove it. It removes the file after an error.
func (c *cacheSource) named(part *os.File, last *kept, written, inUse error) (*os.File, error) {
	if inUse != nil {
		os.Remove(part.Name())
		if written != nil {
			part.Close()
			return nil, written
		}
		return part, nil
	}
	// It is closed before it is renamed, which Windows asks for.
	if err := cmp.Or(written, part.Close()); err != nil {
		os.Remove(part.Name())
		return nil, err
	}
	return c.name(part.Name(), last.fileName())
}

// name gives part its name for as long as its content is in use, and opens it.
func (c *cacheSource) name(part, name string) (*os.File, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := os.Rename(part, filepath.Join(c.dir, name)); err != nil {
		os.Remove(part)
		return nil, err
	}
	file, _, err := openKept(c.dir, name)
	if err == nil {
		c.inUse[name]++
	}
	return file, err
}

// keep records that dir holds contents for the next start: whole content and deltas on it,
// or deltas on the kept revision base.
func (c *cacheSource) keep(base string, contents []kept) error {
	last, err := c.chain(base, contents)
	if err != nil {
		return err
	}
	last.Sum = last.sum()
	text, err := json.MarshalIndent(last, "", "\t")
	if err != nil {
		return err
	}
	if len(text) >= maxKept {
		return fmt.Errorf("it is not kept: its record has %d bytes, as its revision of %d bytes is long", len(text), len(last.newest()))
	}
	part, err := os.CreateTemp(c.dir, "*"+partSuffix)
	if err != nil {
		return err
	}
	defer os.Remove(part.Name()) // if it is not renamed
	_, err = part.Write(append(text, '\n'))
	last.record, _ = part.Stat() // or else no later poll confirms it
	if err = errors.Join(err, part.Sync(), part.Close()); err != nil {
		return err
	}
	if err := c.record(part.Name(), last); err != nil {
		return err
	}
	dir, err := os.Open(c.dir)
	if err != nil {
		return err
	}
	dir.Sync() //nolint:errcheck // not every file system can, and none needs more than it can
	return dir.Close()
}

// record makes a file the record of last.
func (c *cacheSource) record(file string, last kept) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := os.Rename(file, filepath.Join(c.dir, keptName)); err != nil {
		return err
	}
	c.last, c.unkept, c.unkeptBytes = last, 0, 0
	return nil
}

// forget removes the record of other content with the revision of newest, which could not
// be kept: after a restart, the origin would say for good that nothing is newer.
func (c *cacheSource) forget(newest *kept) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if newest.Revision != "" && newest.Revision == c.last.newest() && !c.last.has(newest.fileName()) {
		os.Remove(filepath.Join(c.dir, keptName))
		c.last = kept{}
	}
}

// namesOf returns the names of the files of contents.
func namesOf(contents []kept) (names []string) {
	for _, one := range contents {
		names = append(names, one.fileName())
	}
	return names
}

// sweep removes the files that dir does not keep, now that these are not in use any
// more: content that was replaced or refused.
func (c *cacheSource) sweep(unused []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, name := range unused {
		if c.inUse[name]--; c.inUse[name] == 0 {
			delete(c.inUse, name)
		}
	}
	last, err := readKept(c.dir)
	if err != nil { // perhaps for a moment
		last = c.last
	}
	entries, _ := os.ReadDir(c.dir) // the next sweep tries again
	for _, entry := range entries {
		switch name := entry.Name(); {
		case strings.HasSuffix(name, contentSuffix) && !last.has(name) && c.inUse[name] == 0:
			os.Remove(filepath.Join(c.dir, name))
		}
	}
}

// removeParts removes the files that an earlier process left half written.
func (c *cacheSource) removeParts() {
	entries, _ := os.ReadDir(c.dir) // the next start tries again
	for _, entry := range entries {
		if strings.HasSuffix(entry.Name(), partSuffix) {
			os.Remove(filepath.Join(c.dir, entry.Name()))
		}
	}
}

// failingReader is an io.Reader that fails.
type failingReader struct{ err error }

func (f failingReader) Read([]byte) (int, error) { return 0, f.err }

// spooledBody sweeps when the attempt is over.
type spooledBody struct {
	io.ReadCloser
	cache *cacheSource
	names []string
}

func (b *spooledBody) Close() error {
	err := b.ReadCloser.Close()
	b.cache.sweep(b.names)
	return err
}
