package store

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/poolswap/poolswap/fleet"
)

// The files of content have its digest for their name. Temporary ones begin with a dot.
const tempFile = ".part-*"

func (s *Store) file(digest string) string { return filepath.Join(s.contentDir(), digest) }

// flight is content on its way to the disk of this node.
type flight struct {
	done chan struct{}
	err  error // once done is closed
}

// Content opens the content of a stored revision of a name. If this node lacks it, it
// fetches it first, once for all who ask. The caller closes the file, which stays
// readable even if the revision is removed meanwhile. Its content is checked when it is
// fetched, and by Verify.
func (s *Store) Content(ctx context.Context, name, digest string) (*os.File, error) {
	file, err := s.openContent(ctx, name, digest)
	return file, named(name, err)
}

func (s *Store) openContent(ctx context.Context, name, digest string) (*os.File, error) {
	if err := errors.Join(s.usable(), checkName(name)); err != nil {
		return nil, err
	}
	var all []*description
	for _, d := range s.described(name) {
		if d.SHA256 == digest {
			all = append(all, d)
		}
	}
	if len(all) == 0 {
		return nil, errorOf(ErrNotFound, "no stored revision has the content %.64q", digest)
	}
	file, err := openWhole(s.file(digest), all[0].Size)
	if errors.Is(err, os.ErrNotExist) {
		if err := s.fetch(ctx, all); err != nil {
			return nil, err
		}
		file, err = os.Open(s.file(digest))
	}
	if errors.Is(err, os.ErrNotExist) {
		err = errorOf(ErrNotFound, "the content %.64q was removed meanwhile", digest)
	}
	return file, err
}

// openWhole opens a file. One of another size it treats as absent.
func openWhole(path string, size int64) (*os.File, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err == nil && info.Size() == size {
		return file, nil
	}
	file.Close()
	if err == nil {
		err = os.ErrNotExist
	}
	return nil, err
}

// fetch brings content onto the disk, or waits for the flight that does. All
// descriptions have the same digest; their chunks are tried one after another.
func (s *Store) fetch(ctx context.Context, all []*description) error {
	s.mu.Lock()
	f := s.flight(all)
	s.mu.Unlock()
	if f == nil {
		return s.usable()
	}
	select {
	case <-f.done:
		return f.err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// flight returns the flight of content, which it begins if there is none, or nil after
// Close. The caller holds mu.
func (s *Store) flight(all []*description) *flight {
	digest := all[0].SHA256
	f := s.flights[digest]
	if f != nil || s.closed {
		return f
	}
	f = &flight{done: make(chan struct{})}
	s.flights[digest] = f
	s.tasks.Go(func() {
		for _, d := range all {
			if f.err = s.fly(d); f.err == nil {
				break
			}
		}
		s.mu.Lock()
		delete(s.flights, digest)
		s.dropFile(digest) // if it was removed meanwhile
		s.mu.Unlock()
		close(f.done)
	})
	return f
}

// stock begins to fetch the content that a plan names and this node lacks: a node of a
// cluster serves it also when it has lost the others. The caller holds mu.
func (s *Store) stock(n *nameState) (begun []*flight) {
	if s.o.Cluster == nil || n.plan == nil {
		return nil
	}
	for _, id := range n.plan.Named() {
		d := n.revisions[id]
		if d == nil || d.gone || d.damaged != nil {
			continue
		}
		if _, err := os.Stat(s.file(d.SHA256)); err == nil {
			continue
		}
		if f := s.flight([]*description{d}); f != nil {
			begun = append(begun, f)
		}
	}
	return begun
}

// stockAll waits until the content of all plans is here, or cannot be read for another
// reason than that the others do not answer.
func (s *Store) stockAll() error {
	s.mu.Lock()
	var begun []*flight
	for _, n := range s.memory.names {
		begun = append(begun, s.stock(n)...)
	}
	s.mu.Unlock()
	var missing error
	for _, f := range begun {
		<-f.done
		if errors.Is(f.err, ErrUnavailable) {
			missing = f.err
		}
	}
	return missing
}

// fly writes stored content to the disk.
func (s *Store) fly(d *description) error {
	if err := s.checkFloor(d.Size); err != nil {
		return err
	}
	temp, err := os.CreateTemp(s.contentDir(), tempFile)
	if err != nil {
		return explain(s.ctx, err)
	}
	defer os.Remove(temp.Name())
	if err := s.readChunks(s.ctx, d, temp); err != nil {
		temp.Close()
		return fmt.Errorf("the content of revision %q: %w", d.ID, explain(s.ctx, err))
	}
	return explain(s.ctx, commit(temp, s.file(d.SHA256)))
}

// dropFile removes the file of content that no revision has, nor Put is storing. The
// caller holds mu.
func (s *Store) dropFile(digest string) {
	if s.memory.digests[digest] == 0 && s.flights[digest] == nil && !s.uploads[digest] {
		os.Remove(s.file(digest)) // tidyFiles does it if this fails
	}
}

// tidyFiles removes the files that an earlier process left: of uploads that did not
// end, and of revisions that are gone.
func (s *Store) tidyFiles() {
	entries, err := os.ReadDir(s.contentDir())
	if err != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") || s.memory.digests[e.Name()] == 0 {
			os.Remove(s.file(e.Name())) // so does the next start
		}
	}
}

// checkFile reads a file and compares its digest.
func checkFile(path string, r fleet.Revision) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	sum := sha256.New()
	n, err := io.Copy(sum, file)
	if err != nil {
		return err
	}
	if got := hex.EncodeToString(sum.Sum(nil)); got != r.SHA256 {
		return damage("the file has %d bytes with the SHA-256 %s", n, got)
	}
	return nil
}
