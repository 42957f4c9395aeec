package fleet

import (
	"archive/tar"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/poolswap/poolswap/fleet/internal/clock"
)

// A backup is a tar archive: what it has as JSON, the digest of that JSON, and the
// content of each revision.
const (
	backupFormat  = 1
	backupEntry   = "fleet.json"
	digestEntry   = "fleet.json.sha256"
	contentPrefix = "content/"

	maxBackupEntry = 1 << 30 // bytes of the JSON, which Restore keeps in memory
)

// backup is what backupEntry has.
type backup struct {
	Format    int        `json:"format"`
	Name      string     `json:"name"`
	At        time.Time  `json:"at"`
	Plan      *Plan      `json:"plan"`
	History   []Change   `json:"history"`
	Revisions []Revision `json:"revisions"` // in the order of their content
}

// Backup writes a tar archive with the plan, the history and the content of every
// stored revision of the name. It checks the content on the way: if Backup returns
// nil, the archive is whole. Publishing may go on meanwhile; Retain must not.
func (c *Controller) Backup(ctx context.Context, w io.Writer) error {
	return c.store.named(c.store.backup(ctx, w))
}

func (s *store) backup(ctx context.Context, w io.Writer) error {
	plan, _, err := s.plan(ctx)
	if err != nil {
		return err
	}
	b := backup{Format: backupFormat, Name: s.name, At: clock.Now().UTC(), Plan: plan}
	if b.History, err = s.history(ctx); err != nil {
		return err
	}
	b.History = slices.DeleteFunc(b.History, func(c Change) bool { return c.Epoch == plan.Epoch && c.Seq > plan.Seq })
	stored, _, err := s.stored(ctx)
	if err != nil {
		return err
	}
	for _, one := range slices.Backward(stored) { // the oldest first, as they came
		if one.ID != "" {
			b.Revisions = append(b.Revisions, one.Revision)
		}
	}
	if err := b.check(s.name); err != nil {
		return err
	}
	text, err := json.Marshal(b)
	if err != nil {
		return err
	}
	archive := tar.NewWriter(w)
	err = errors.Join(writeEntry(archive, backupEntry, text, b.At), writeEntry(archive, digestEntry, digestOf(text), b.At))
	for _, r := range b.Revisions {
		if err == nil {
			err = s.backupContent(ctx, archive, r)
		}
	}
	if err != nil {
		return err
	}
	return archive.Close()
}

// check returns an error for a backup that cannot be restored to name.
func (b *backup) check(name string) error {
	switch {
	case b.Format != backupFormat:
		return fmt.Errorf("the backup has format %d, and this is for %d", b.Format, backupFormat)
	case b.Name != name:
		return fmt.Errorf("the backup is of %q", b.Name)
	case b.Plan == nil || b.Plan.Stable == "":
		return errors.New("the backup has no plan")
	}
	for _, id := range b.Plan.named() {
		at := slices.IndexFunc(b.Revisions, func(r Revision) bool { return r.ID == id })
		if at < 0 {
			return fmt.Errorf("the plan names revision %q, whose content is missing", id)
		}
		if r := b.Plan.Revisions[id]; r.ID != id || r.SHA256 != b.Revisions[at].SHA256 || r.Size != b.Revisions[at].Size {
			return fmt.Errorf("the plan names revision %q and does not describe its content", id)
		}
	}
	for _, r := range b.Revisions {
		if err := r.check(name, nil); err != nil {
			return fmt.Errorf("revision %q of the backup: %w", r.ID, err)
		}
	}
	return nil
}

func (s *store) backupContent(ctx context.Context, archive *tar.Writer, r Revision) error {
	if err := writeHeader(archive, contentPrefix+token(r.ID), r.Size, r.Created); err != nil {
		return err
	}
	return s.copyContent(ctx, archive, r)
}

func writeHeader(archive *tar.Writer, name string, size int64, at time.Time) error {
	return archive.WriteHeader(&tar.Header{Name: name, Mode: 0o600, Size: size, ModTime: at, Format: tar.FormatPAX})
}

func writeEntry(archive *tar.Writer, name string, text []byte, at time.Time) error {
	err := writeHeader(archive, name, int64(len(text)), at)
	if err == nil {
		_, err = archive.Write(text)
	}
	return err
}

func digestOf(text []byte) []byte {
	sum := sha256.Sum256(text)
	return []byte(hex.EncodeToString(sum[:]))
}

// Restore stores what a backup of the name has, on a server where nothing was
// published under the name: ErrConflict if something was. The plan is the last
// thing that it writes. If it fails, call it again: it goes on with what is
// missing.
//
// Replicas follow the restored plan in a new epoch, also those that have seen
// later plans than the backup has.
func (c *Controller) Restore(ctx context.Context, r io.Reader, why string) (*Plan, error) {
	if _, _, err := c.store.plan(ctx); !errors.Is(err, ErrNoPlan) {
		if err == nil {
			err = errRestored
		}
		return nil, c.store.named(err)
	}
	b, err := c.store.restore(ctx, tar.NewReader(r))
	if err != nil {
		return nil, c.store.named(fmt.Errorf("the backup was not restored: %w", err))
	}
	return c.change(ctx, "restore", why, func(next *Plan, change *Change) error {
		if next.Seq > 0 {
			return errRestored
		}
		epoch := newEpoch(b.Plan.Epoch)
		*next = *b.Plan.clone()
		next.Epoch, next.Seq, change.To = epoch, 0, next.Stable
		return nil
	})
}

var errRestored error = restoredError{}

type restoredError struct{}

func (restoredError) Error() string { return "the name has a plan, and a backup is for one without" }

func (restoredError) Is(target error) bool { return target == ErrConflict }

// restore stores everything but the plan.
func (s *store) restore(ctx context.Context, archive *tar.Reader) (*backup, error) {
	text, err := readEntry(archive, backupEntry)
	if err != nil {
		return nil, err
	}
	digest, err := readEntry(archive, digestEntry)
	if err != nil {
		return nil, err
	}
	b := new(backup)
	if string(digest) != string(digestOf(text)) {
		return nil, errors.New("the backup is damaged: its list has another SHA-256")
	}
	if err := json.Unmarshal(text, b); err != nil {
		return nil, fmt.Errorf("the backup cannot be read: %w", err)
	}
	if err := b.check(s.name); err != nil {
		return nil, err
	}
	for _, r := range b.Revisions {
		if err := nextEntry(archive, contentPrefix+token(r.ID)); err != nil {
			return nil, err
		}
		if err := s.restoreContent(ctx, r, archive); err != nil {
			return nil, fmt.Errorf("revision %q: %w", r.ID, err)
		}
	}
	for _, c := range b.History {
		if err := s.record(ctx, c); err != nil {
			return nil, fmt.Errorf("the history: %w", err)
		}
	}
	return b, nil
}

// restoreContent stores the content of a revision, if it is not there yet.
func (s *store) restoreContent(ctx context.Context, r Revision, content io.Reader) error {
	there, err := s.claim(ctx, r.ID)
	if err == nil {
		if there.SHA256 != r.SHA256 || there.Size != r.Size {
			return errors.New("other content is stored under this id")
		}
		return nil
	}
	if !errors.Is(err, errNotStored) && !errors.Is(err, errNotWhole) {
		return err
	}
	u, err := s.upload(ctx, content)
	if err != nil {
		return err
	}
	if u.size != r.Size || hex.EncodeToString(u.digest) != r.SHA256 {
		s.discard(ctx, u)
		return errors.New("the backup is damaged: the content has another SHA-256")
	}
	return s.finish(ctx, r, u)
}

// nextEntry goes to the next entry, which must have a name.
func nextEntry(archive *tar.Reader, name string) error {
	header, err := archive.Next()
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("the backup ends before %s", name)
	case err != nil:
		return fmt.Errorf("this is no backup: %w", err)
	case header.Name != name:
		return fmt.Errorf("the backup has %s where %s belongs", header.Name, name)
	}
	return nil
}

func readEntry(archive *tar.Reader, name string) ([]byte, error) {
	if err := nextEntry(archive, name); err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(archive, maxBackupEntry))
	if err != nil {
		return nil, fmt.Errorf("the backup ends in %s: %w", name, err)
	}
	return text, nil
}
