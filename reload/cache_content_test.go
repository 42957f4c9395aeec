package reload_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/poolswap/poolswap/reload"
	"github.com/poolswap/poolswap/reload/reloadtest"
)

// keptThenBad returns a fake whose content "good" was kept in dir, and that has
// bad content now.
func keptThenBad(t *testing.T, dir string) *reloadtest.Fake {
	t.Helper()
	fake := new(reloadtest.Fake)
	push(fake, "good")
	cacheRestarts(t, fake, dir, "good")
	push(fake, "bad")
	return fake
}

// dated is a source whose content has a time.
type dated struct {
	reload.Source
	modified  time.Time
	published int
}

func (d *dated) Fetch(ctx context.Context, have string) (*reload.Content, error) {
	content, err := d.Source.Fetch(ctx, have)
	if err == nil {
		content.Modified = d.modified
		content.Published = func() error { d.published++; return nil }
	}
	return content, err
}

func TestACacheKeepsWhenItsContentWasMade(t *testing.T) {
	t.Parallel()
	dir, made := t.TempDir(), time.Date(2024, 5, 6, 7, 8, 9, 0, time.UTC)
	fake := keptThenBad(t, t.TempDir())
	push(fake, "good")
	source := &dated{Source: fake, modified: made}
	for _, err := range []error{nil, errors.New("down")} { // the origin, and a restart without it
		if err != nil {
			fake.Fail(err)
		}
		c, _ := newTexts()
		r := reload.New(c, reload.Cache(source, dir), load, reload.Options{Logger: quiet})
		succeeds(t, r, c, "good")
		if s := r.Status(); !s.Modified.Equal(made) || (s.Stale != nil) != (err != nil) {
			t.Errorf("the content was made at %v and is stale: %v", s.Modified, s.Stale)
		}
	}
}

func TestContentThatCannotBeKeptIsPublishedForItsSource(t *testing.T) {
	t.Parallel()
	fake := keptThenBad(t, t.TempDir())
	push(fake, "good")
	source := &dated{Source: fake}
	c, _ := newTexts()
	dir := t.TempDir()
	r := reload.New(c, reload.Cache(source, dir), func(ctx context.Context, next, current *text, content *reload.Content) error {
		err := load(ctx, next, current, content)
		return errors.Join(err, os.RemoveAll(dir)) // it cannot be kept
	}, reload.Options{Logger: quiet})
	succeeds(t, r, c, "good")
	if source.published != 1 {
		t.Errorf("Published was called %d times", source.published)
	}
}

// What is kept was loaded: bad content that comes then is refused, and the cache
// has nothing to offer in its place.
func TestBadContentAfterAKeptStartIsTransferredOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	fake := keptThenBad(t, dir) // revision 2 is bad
	fetched := 0
	source := sourceFunc(func(ctx context.Context, have string) (*reload.Content, error) {
		content, err := fake.Fetch(ctx, have)
		if err == nil {
			fetched++
		}
		return content, err
	})
	c, _ := newTexts()
	r := reload.New(c, reload.Cache(asFake{source}, dir), load, reload.Options{Logger: quiet})
	fake.Fail(errors.New("down"))
	succeeds(t, r, c, "good")
	push(fake, "bad again")
	for range 6 {
		failsWith(t, r, reload.Loading)
	}
	if s := r.Status(); fetched != 1 || s.Refused != "3" || s.Attempts != 8 {
		t.Errorf("%d transfers, and the status is %+v", fetched, s)
	}
	is(t, c, "good")
}

// asFake has the name that a Fake has.
type asFake struct{ reload.Source }

func (asFake) String() string { return "fake" }

func TestKeptContentThatIsRefusedAndStillTheNewestIsLoadedOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	fake := keptThenBad(t, dir)
	c, _ := newTexts()
	loads := 0
	r := reload.New(c, reload.Cache(fake, dir), func(context.Context, *text, *text, *reload.Content) error {
		loads++
		return errBad
	}, reload.Options{Logger: quiet})
	fake.Fail(reload.ErrNotModified)
	for range 5 {
		if err := r.Reload(t.Context()); !errors.Is(err, errBad) {
			t.Errorf("Reload returned %v, want the refusal", err)
		}
	}
	if loads != 1 {
		t.Errorf("%d loads in five attempts", loads)
	}
}

// What an earlier process left half written goes after a day: another one may be
// writing what is younger.
func TestHalfWrittenFilesAreDeletedAfterADay(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, age := range map[string]time.Duration{"young.part": 23 * time.Hour, "old.part": 25 * time.Hour} {
		file := filepath.Join(dir, name)
		written := time.Now().Add(-age)
		if err := errors.Join(os.WriteFile(file, []byte("half"), 0o600), os.Chtimes(file, written, written)); err != nil {
			t.Fatal(err)
		}
	}
	keptThenBad(t, dir)
	parts, err := filepath.Glob(filepath.Join(dir, "*.part"))
	if err != nil || len(parts) != 1 || filepath.Base(parts[0]) != "young.part" {
		t.Errorf("the cache has %v (%v), want young.part", parts, err)
	}
}

// A body of unknown length is cut where the Reloader that takes the most would
// refuse it, not where another one would.
func TestReloadersThatShareACacheMayHaveDifferentBounds(t *testing.T) {
	t.Parallel()
	fake := keptThenBad(t, t.TempDir())
	push(fake, "good and long")
	cache := reload.Cache(asFake{sourceFunc(func(ctx context.Context, have string) (*reload.Content, error) {
		content, err := fake.Fetch(ctx, have)
		if err == nil {
			content.Size = -1
		}
		return content, err
	})}, t.TempDir())
	large, _ := newTexts()
	small, _ := newTexts()
	takesAll := reload.New(large, cache, load, reload.Options{MaxBytes: 100, Logger: quiet})
	takesLittle := reload.New(small, cache, load, reload.Options{MaxBytes: 5, Logger: quiet})
	succeeds(t, takesAll, large, "good and long")
	failsWith(t, takesLittle, reload.Reading)
}
