package reload_test

import (
	"context"
	"errors"
	"os"
	"testing"

	"github.com/poolswap/poolswap/reload"
	"github.com/poolswap/poolswap/reload/reloadtest"
)

// What is kept is loaded by the attempt after one that failed for a reason that
// says nothing about it.
func TestKeptContentIsLoadedAfterATemporaryFailure(t *testing.T) {
	t.Parallel()
	dir, fake, _, _ := cacheKept(t, "good")
	fake.Fail(errors.New("down"))
	c, _ := newTexts()
	short := true
	r := reload.New(c, reload.Cache(fake, dir), func(ctx context.Context, next, current *text, content *reload.Content) error {
		if short {
			return reload.Temporary(errors.New("out of memory"))
		}
		return load(ctx, next, current, content)
	}, reload.Options{Logger: quiet})
	failsWith(t, r, reload.Fetching)
	is(t, c, "")
	short = false
	succeeds(t, r, c, "good")
}

func TestKeptContentThatIsRefusedIsLoadedOnce(t *testing.T) {
	t.Parallel()
	dir, fake, _, _ := cacheKept(t, "good")
	fake.Fail(errors.New("down"))
	c, _ := newTexts()
	loads := 0
	r := reload.New(c, reload.Cache(fake, dir), func(context.Context, *text, *text, *reload.Content) error {
		loads++
		return errBad
	}, reload.Options{Logger: quiet})
	for range 5 {
		failsWith(t, r, reload.Fetching)
	}
	if loads != 1 {
		t.Errorf("%d loads in five attempts", loads)
	}
}

// A process does not load what it has kept itself.
func TestACacheThatWasEmptyGivesNothingToItsProcess(t *testing.T) {
	t.Parallel()
	fake := new(reloadtest.Fake)
	push(fake, "content")
	c, _ := newTexts()
	loads := 0
	r := reload.New(c, reload.Cache(fake, t.TempDir()), func(ctx context.Context, next, current *text, content *reload.Content) error {
		loads++
		return load(ctx, next, current, content)
	}, reload.Options{Logger: quiet})
	for range 3 {
		succeeds(t, r, c, "content")
	}
	if s := r.Status(); loads != 1 || s.Attempts != 3 || s.Stale != nil {
		t.Errorf("%d loads, and the status is %+v", loads, s)
	}
}

// Nor does a process load what was kept after it has loaded what is newer.
func TestKeptContentDoesNotReplaceWhatIsNewer(t *testing.T) {
	t.Parallel()
	dir, fake, _, _ := cacheKept(t, "good")
	push(fake, "newer")
	c, _ := newTexts()
	tries := 0
	r := reload.New(c, reload.Cache(fake, dir), func(ctx context.Context, next, current *text, content *reload.Content) error {
		if tries++; tries == 1 {
			return reload.Temporary(errBad)
		}
		return load(ctx, next, current, content)
	}, reload.Options{Logger: quiet})
	succeeds(t, r, c, "newer")
	succeeds(t, r, c, "newer")
	if tries != 2 {
		t.Errorf("%d loads, want that of what was kept, and of what is newer", tries)
	}
}

// The source of a cache is told of its content even if that cannot be kept.
func TestACacheTellsItsSourceOfAPublication(t *testing.T) {
	t.Parallel()
	fake, dir := new(reloadtest.Fake), t.TempDir()
	push(fake, "good")
	published := 0
	source := sourceFunc(func(ctx context.Context, have string) (*reload.Content, error) {
		content, err := fake.Fetch(ctx, have)
		if err == nil {
			content.Published = func() error { published++; return nil }
		}
		return content, err
	})
	c, _ := newTexts()
	r := reload.New(c, reload.Cache(source, dir), func(ctx context.Context, next, current *text, content *reload.Content) error {
		return errors.Join(load(ctx, next, current, content), os.RemoveAll(dir))
	}, reload.Options{Logger: quiet})
	succeeds(t, r, c, "good")
	if published != 1 {
		t.Errorf("Published was called %d times", published)
	}
}
