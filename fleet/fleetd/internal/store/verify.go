package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/nats-io/nats.go"
)

// Verify reads the content of every stored revision of a name: the chunks in JetStream
// and the file of this node. It repairs the one by the other and logs that. damaged
// names the revisions that it could not repair, and why. The other nodes look after
// their files by themselves then. An error ends it early.
func (s *Store) Verify(ctx context.Context, name string) (checked int, damaged []string, err error) {
	if err := errors.Join(s.usable(), checkName(name)); err != nil {
		return 0, nil, named(name, err)
	}
	s.conn.Publish(subject("verify", name), []byte(s.node)) //nolint:errcheck // of the others
	s.mu.Lock()
	all := map[string]*description{}
	if n := s.memory.names[name]; n != nil {
		all = maps.Clone(n.revisions)
	}
	s.mu.Unlock()
	maps.DeleteFunc(all, func(_ string, d *description) bool { return d.gone })
	if plan := s.knownPlan(name); plan != nil {
		for _, id := range plan.Named() {
			if all[id] == nil {
				all[id] = &description{damaged: errors.New("the plan names it, and it is not stored")}
			}
		}
	}
	for _, id := range slices.Sorted(maps.Keys(all)) {
		d := all[id]
		err := d.damaged
		if err == nil {
			err = s.verify(ctx, name, d)
		}
		checked++
		if err == nil {
			continue
		}
		var bad *damageError
		if !errors.As(err, &bad) && d.damaged == nil {
			return checked, damaged, fmt.Errorf("%s: revision %q: %w", name, id, err)
		}
		damaged = append(damaged, fmt.Sprintf("%s: %v", id, err))
	}
	return checked, damaged, nil
}

// verify checks and repairs one revision.
func (s *Store) verify(ctx context.Context, name string, d *description) error {
	path := s.file(d.SHA256)
	inFile := checkFile(path, d.Revision)
	inStore := s.readChunks(ctx, d, io.Discard)
	var badFile, badStore *damageError
	switch isBadFile, isBadStore := errors.As(inFile, &badFile), errors.As(inStore, &badStore); {
	case inStore != nil && !isBadStore:
		return inStore
	case isBadStore && inFile != nil:
		return fmt.Errorf("%w; and this node has no good file: %w", inStore, inFile)
	case isBadStore:
		s.log.Warn("fleetd: damaged chunks are replaced", slog.String("name", name), slog.String("revision", d.ID), slog.Any("error", inStore))
		return s.replaceChunks(ctx, name, d)
	case inFile != nil && !errors.Is(inFile, os.ErrNotExist):
		s.log.Warn("fleetd: a damaged file is replaced", slog.String("name", name), slog.String("revision", d.ID), slog.Bool("damaged", isBadFile), slog.Any("error", inFile))
		return s.fetch(ctx, []*description{d})
	}
	return nil
}

// replaceChunks stores the content of a file under other chunks.
func (s *Store) replaceChunks(ctx context.Context, name string, d *description) error {
	if err := s.checkRoom(d.Size); err != nil {
		return err
	}
	file, err := os.Open(s.file(d.SHA256))
	if err != nil {
		return err
	}
	defer file.Close()
	chunks := s.newUpload()
	defer s.endUpload(chunks)
	count, _, err := s.putChunks(ctx, chunks, file, func(int64) error { return nil })
	if err == nil {
		_, err = s.update(ctx, name, d.ID, func(now *description) error {
			now.Chunks, now.Count = chunks, count
			return nil
		})
	}
	if err != nil {
		s.dropChunks(ctx, chunks) //nolint:errcheck // sweepUploads does it
		return err
	}
	return s.dropChunks(ctx, d.Chunks)
}

const verifyPrefix = "verify."

// hearVerify repairs the files of a name that Verify of another node has read.
func (s *Store) hearVerify(m *nats.Msg) {
	name, ok := untoken(strings.TrimPrefix(m.Subject, verifyPrefix))
	if string(m.Data) == s.node || !ok {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || s.verifying {
		return
	}
	s.verifying = true
	s.tasks.Go(func() {
		for _, d := range s.described(name) {
			var bad *damageError
			if err := checkFile(s.file(d.SHA256), d.Revision); errors.As(err, &bad) && s.ctx.Err() == nil {
				err = s.fetch(s.ctx, []*description{d})
				s.log.Warn("fleetd: a damaged file is replaced", slog.String("name", name), slog.String("revision", d.ID), slog.Any("error", err))
			}
		}
		s.mu.Lock()
		s.verifying = false
		s.mu.Unlock()
	})
}
