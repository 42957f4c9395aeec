package store

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/poolswap/poolswap/fleet"
)

// Put stores content as a revision, of which r has ID, Created, Base and State, and returns it with
// its size and digest when a majority has it. size is that of the content, or -1. An
// error of content comes back as it is; nothing is left behind then. Putting the same
// content under the same ID again returns the stored revision; another one is refused.
func (s *Store) Put(ctx context.Context, name string, r fleet.Revision, size int64, content io.Reader) (fleet.Revision, error) {
	r, err := s.put(ctx, name, r, size, content)
	return r, named(name, err)
}

func (s *Store) put(ctx context.Context, name string, r fleet.Revision, size int64, content io.Reader) (none fleet.Revision, err error) {
	if err := errors.Join(s.writable(), checkName(name), checkRevision(r.ID)); err != nil {
		return none, err
	}
	if r.Created.IsZero() {
		return none, errorOf(ErrInvalid, "revision %q lacks the time when it was made", r.ID)
	}
	if r.Base != "" {
		if err := errors.Join(checkRevision(r.Base), s.checkBase(ctx, name, r.Base, max(size, 0))); err != nil {
			return none, err
		}
	}
	if size >= 0 {
		if err := errors.Join(s.checkQuota(name, size), s.checkRoom(copies*size)); err != nil {
			return none, err
		}
	}
	was, err := s.readDescription(ctx, name, r.ID)
	if err != nil {
		return none, err
	}
	if !was.gone {
		return s.same(was, r, content)
	}
	if n := len(s.described(name)); n >= s.o.maxRevisions {
		return none, errorOf(ErrFull, "the name has %d revisions, which is the most: keep fewer", n)
	}
	temp, err := os.CreateTemp(s.contentDir(), tempFile)
	if err != nil {
		return none, explain(ctx, err)
	}
	defer os.Remove(temp.Name())
	defer temp.Close()
	d := &description{Revision: r, Chunks: s.newUpload()}
	defer s.endUpload(d.Chunks)
	sum := sha256.New()
	d.Count, d.Size, err = s.putChunks(ctx, d.Chunks, io.TeeReader(content, io.MultiWriter(temp, sum)), func(now int64) error {
		if size >= 0 && now > size {
			return errorOf(ErrInvalid, "the content is longer than the %d bytes that were announced", size)
		}
		return errors.Join(s.checkQuota(name, now), s.checkRoom(0))
	})
	if err == nil && size >= 0 && d.Size < size {
		err = errorOf(ErrInvalid, "the content ends after %d bytes, and %d were announced", d.Size, size)
	}
	d.SHA256 = hex.EncodeToString(sum.Sum(nil))
	stored := d
	if err == nil && d.Base != "" {
		if err = s.checkBase(ctx, name, d.Base, d.Size); err == nil {
			_, err = s.claim(ctx, name, d.Base) // until this one is described, and keeps it
		}
	}
	if err == nil {
		stored, err = s.publishContent(ctx, name, d, temp, was.seq)
	}
	if !errors.Is(err, errMayBeStored) && (err != nil || stored.Chunks != d.Chunks) {
		s.dropChunks(ctx, d.Chunks) //nolint:errcheck // sweepUploads does it
	}
	if err != nil {
		return none, explain(ctx, err)
	}
	return stored.Revision, nil
}

var errMayBeStored = errors.New("the revision may have been stored all the same")

// publishContent gives the file its name and stores the description. It returns the
// stored one: the client may have sent the same content to another node, too.
func (s *Store) publishContent(ctx context.Context, name string, d *description, temp *os.File, seq uint64) (*description, error) {
	s.mu.Lock()
	s.uploads[d.SHA256] = true // keeps the file
	s.mu.Unlock()
	defer func() {
		s.endUpload(d.SHA256)
		s.mu.Lock()
		s.dropFile(d.SHA256)
		s.mu.Unlock()
	}()
	if err := commit(temp, s.file(d.SHA256)); err != nil {
		return nil, err
	}
	err := s.putDescription(ctx, name, d, seq)
	switch {
	case overtaken(err):
		now, readErr := s.readDescription(ctx, name, d.ID)
		if readErr != nil || now.gone {
			return nil, fmt.Errorf("%w: %w", errMayBeStored, errors.Join(err, readErr))
		}
		if now.SHA256 == d.SHA256 && now.Size == d.Size && now.Base == d.Base && now.State == d.State {
			return now, nil
		}
		return nil, errorOf(ErrRefused, "revision %q was stored meanwhile with other content", d.ID)
	case err != nil && !errors.Is(err, ErrFull):
		return nil, fmt.Errorf("%w: %w", errMayBeStored, err)
	}
	return d, err
}

// same returns a stored revision if it has this content.
func (s *Store) same(d *description, r fleet.Revision, content io.Reader) (fleet.Revision, error) {
	sum := sha256.New()
	n, err := io.Copy(sum, io.LimitReader(content, d.Size+1))
	if err != nil {
		return fleet.Revision{}, err
	}
	if d.Base != r.Base || d.State != r.State || n != d.Size || hex.EncodeToString(sum.Sum(nil)) != d.SHA256 {
		return fleet.Revision{}, errorOf(ErrRefused, "revision %q is stored with other content", d.ID)
	}
	return d.Revision, nil
}

// newUpload returns a subject for chunks, which sweepUploads leaves alone until
// endUpload.
func (s *Store) newUpload() string {
	subject := subject("chunk", s.node, rand.Text())
	s.mu.Lock()
	defer s.mu.Unlock()
	s.uploads[subject] = true
	return subject
}

func (s *Store) endUpload(subject string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.uploads, subject)
}

// checkQuota returns an error if a name has no room for more bytes of content.
func (s *Store) checkQuota(name string, more int64) error {
	if s.o.Quota <= 0 {
		return nil
	}
	has := int64(0)
	for _, d := range s.described(name) {
		has += d.Size
	}
	if has+more > s.o.Quota {
		return errorOf(ErrFull, "the name has %d bytes of content, and with %d more it would exceed its quota of %d: keep fewer revisions, or raise -quota", has, more, s.o.Quota)
	}
	return nil
}

// copies is how often a node writes content that it stores: to its file, to the log
// of the stream in a cluster, and to the stream.
const copies = 2
