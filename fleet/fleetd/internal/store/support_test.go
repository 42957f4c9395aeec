package store_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/poolswap/poolswap/fleet"
	"github.com/poolswap/poolswap/fleet/fleetd/internal/store"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience is how long a test waits for something that must happen.
const patience = time.Minute

func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("it never happens that %s", what)
		}
	}
}

// logger logs to the test, until the test ends.
func logger(t testing.TB) *slog.Logger {
	w := io.Discard
	if testing.Verbose() && os.Getenv("STORE_LOG") != "" {
		w = t.Output()
	}
	return slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

// open opens a single node in dir, until the test ends.
func open(t testing.TB, o store.Options) *store.Store {
	t.Helper()
	o.Logger = logger(t)
	s, err := store.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func put(t testing.TB, s *store.Store, name, id, content string) fleet.Revision {
	t.Helper()
	r, err := s.Put(t.Context(), name, fleet.Revision{ID: id, Created: time.Now()}, int64(len(content)), strings.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// publishing makes a revision stable.
func publishing(r fleet.Revision) func(*fleet.Plan, *fleet.Change) error {
	return func(next *fleet.Plan, change *fleet.Change) error {
		change.Kind, change.From, change.To = fleet.KindPublish, next.Stable, r.ID
		next.Previous, next.Stable = next.Stable, r.ID
		next.Revisions[r.ID] = r
		return nil
	}
}

// publish stores content and makes it stable.
func publish(t testing.TB, s *store.Store, name, id, content string) *fleet.Plan {
	t.Helper()
	put(t, s, name, id, content)
	plan, err := tryPublish(t.Context(), s, name, "", id)
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

// tryPublish makes a stored revision stable.
func tryPublish(ctx context.Context, s *store.Store, name, at, id string) (*fleet.Plan, error) {
	r, err := s.Claim(ctx, name, id)
	if err != nil {
		return nil, err
	}
	return s.Change(ctx, name, at, "test", publishing(r))
}

// content reads the content of a revision through a node.
func content(ctx context.Context, s *store.Store, name string, r fleet.Revision) (string, error) {
	file, err := s.Content(ctx, name, r.SHA256)
	if err != nil {
		return "", err
	}
	defer file.Close()
	text, err := io.ReadAll(file)
	return string(text), err
}

func wantContent(t testing.TB, s *store.Store, name string, r fleet.Revision, want string) {
	t.Helper()
	if got, err := content(t.Context(), s, name, r); err != nil || got != want {
		t.Errorf("revision %q has %d bytes, want %d: %v", r.ID, len(got), len(want), err)
	}
}

// large is content of several chunks.
func large(seed int) string { return strings.Repeat(fmt.Sprintf("%07d\n", seed), 100_000) }

// copyDir copies the files of a directory that to does not have, also while they change.
func copyDir(t testing.TB, to, from string) {
	t.Helper()
	err := filepath.WalkDir(from, func(path string, d os.DirEntry, err error) error {
		if errors.Is(err, os.ErrNotExist) {
			return nil // it is gone meanwhile
		}
		if err != nil {
			return err
		}
		name, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		if d.IsDir() {
			return os.MkdirAll(filepath.Join(to, name), 0o700)
		}
		if _, err := os.Stat(filepath.Join(to, name)); err == nil {
			return nil
		}
		text, err := os.ReadFile(path)
		if errors.Is(err, os.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, name), text, 0o600)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// noise is content of n bytes that is no other's.
func noise(n int) io.Reader {
	text := make([]byte, n)
	for i := range text {
		text[i] = byte(rand.Uint32())
	}
	return bytes.NewReader(text)
}
