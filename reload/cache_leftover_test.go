package reload_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/poolswap/poolswap/reload"
	"github.com/poolswap/poolswap/reload/reloadtest"
)

// TestKeptContentIsAskedForAgain has the directory of a Cache fail for a moment, while the
// origin is down.
func TestKeptContentIsAskedForAgain(t *testing.T) {
	t.Parallel()
	dir, fake, _, _ := cacheKept(t, "good")
	fake.Fail(errDown)
	away := dir + "~"
	if err := errors.Join(os.Rename(dir, away), os.WriteFile(dir, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	var lines logs
	c, _ := newTexts()
	r := reload.New(c, reload.Cache(fake, dir), load, reload.Options{Logger: lines.logger(slog.LevelWarn)})
	for range 2 {
		failsWith(t, r, reload.Fetching)
	}
	if text := strings.Join(lines.all(), "\n"); strings.Count(text, "kept content cannot be used") != 1 {
		t.Errorf("the log is\n%s", text)
	}
	if err := errors.Join(os.Remove(dir), os.Rename(away, dir)); err != nil {
		t.Fatal(err)
	}
	succeeds(t, r, c, "good")
	if s := r.Status(); !errors.Is(s.Stale, errDown) || strings.Contains(s.Stale.Error(), "the cache in") {
		t.Errorf("the status is %+v", s)
	}
}

// TestHashingOfKeptContentEnds ends the ctx before the kept content is hashed.
func TestHashingOfKeptContentEnds(t *testing.T) {
	t.Parallel()
	dir, fake, _, _ := cacheKept(t, "good")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	content, _, err := reload.Cache(fake, dir).(reload.Restorer).Restore(ctx)
	if !errors.Is(err, context.Canceled) || content != nil {
		t.Errorf("Restore returned %v, %v", content, err)
	}
}

// TestSpoolingEnds ends the ctx while a Source that does not look at it is read.
func TestSpoolingEnds(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	reads := 0
	source := sourceFunc(func(context.Context, string) (*reload.Content, error) {
		return &reload.Content{Size: -1, Body: io.NopCloser(reading(func(p []byte) (int, error) {
			if reads++; reads == 3 {
				cancel()
			}
			if reads > 10 {
				return 0, io.EOF
			}
			return copy(p, "content"), nil
		}))}, nil
	})
	r, c := start(source, t.TempDir(), reload.Options{})
	if err := r.Reload(ctx); !errors.Is(err, context.Canceled) || reads != 3 {
		t.Errorf("after %d reads: %v", reads, err)
	}
	is(t, c, "")
}

// TestTimeThatJSONHasNot has content of the year 10000, and a record of it.
func TestTimeThatJSONHasNot(t *testing.T) {
	t.Parallel()
	dir, fake := filepath.Join(t.TempDir(), "spool"), new(reloadtest.Fake)
	source := &dated{Source: fake, modified: time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)}
	push(fake, "good")
	for _, source := range []reload.Source{source, reload.Cache(source, dir)} {
		c, _ := newTexts()
		r := reload.New(c, source, load, reload.Options{Logger: quiet})
		succeeds(t, r, c, "good")
		if text, err := json.Marshal(r.Status()); err != nil || strings.Contains(string(text), "modified") {
			t.Errorf("%s, %v", text, err)
		}
	}
	late := time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)
	if err := os.Chtimes(filepath.Join(dir, "kept.json"), late, late); err != nil {
		t.Skip(err) // the file system has no such time
	}
	fake.Fail(errDown)
	c, _ := newTexts()
	r := reload.New(c, reload.Cache(source, dir), load, reload.Options{Logger: quiet})
	succeeds(t, r, c, "good")
	if text, err := json.Marshal(r.Status()); err != nil {
		t.Errorf("%s, %v", text, err)
	}
}

// rebuilt is a Source of a user's own that makes new content of that of another.
type rebuilt struct{ reload.Source }

func (s rebuilt) Fetch(ctx context.Context, have string) (*reload.Content, error) {
	content, err := s.Source.Fetch(ctx, have)
	if err != nil {
		return nil, err
	}
	return &reload.Content{Revision: content.Revision, Size: content.Size, Body: content.Body, Verify: content.Verify}, nil
}

// TestRebuiltContentWithinCache has a wrapper lose the signature. Kept content would be
// loaded at the next start without it.
func TestRebuiltContentWithinCache(t *testing.T) {
	t.Parallel()
	public, private := key('a')
	content, signatures := new(reloadtest.Fake), new(reloadtest.Fake)
	push(content, "signed")
	signatures.Push(signed(private, "signed"))
	source := rebuilt{reload.VerifyEd25519(content, signatures, public)}
	dir := t.TempDir()
	r, c := start(source, dir, reload.Options{})
	if failure := failsWith(t, r, reload.Verifying); !strings.Contains(failure.Error(), "put your own Source inside") {
		t.Error(failure)
	}
	is(t, c, "")
	cacheHas(t, dir, nil)
}

// TestCacheKeepsNoEndlessRevision has a source whose revision is longer than a record
// may be.
func TestCacheKeepsNoEndlessRevision(t *testing.T) {
	t.Parallel()
	dir, fake, _, _ := cacheKept(t, "good")
	var lines logs
	c, _ := newTexts()
	endless := named{given(strings.Repeat("\x01", 900<<10), -1, "newer"), "fake"}
	r := reload.New(c, reload.Cache(endless, dir), load, reload.Options{Logger: lines.logger(slog.LevelWarn)})
	if err := r.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	succeeds(t, r, c, "newer")
	if text := strings.Join(lines.all(), "\n"); !strings.Contains(text, "as its revision of 921600 bytes is long") {
		t.Errorf("the log is\n%s", text)
	}
	fake.Fail(errDown)
	cacheRestarts(t, fake, dir, "good")
}
