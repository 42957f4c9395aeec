package reload_test

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/poolswap/poolswap/reload"
	"github.com/poolswap/poolswap/reload/reloadtest"
)

func TestRestartWithoutOrigin(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "made", "by", "Cache")
	fake := new(reloadtest.Fake)
	push(fake, "good")
	r, _ := cacheRestarts(t, fake, dir, "good")
	if s := r.Status(); s.Stale != nil || s.Revision != "1" {
		t.Errorf("the status is %+v", s)
	}

	fake.Fail(errDown)
	r, c := cacheRestarts(t, fake, dir, "good")
	if s := r.Status(); !errors.Is(s.Stale, errDown) || s.Revision != "1" || s.Source != "fake" {
		t.Errorf("the status is %+v", s)
	}
	if page := everything(r); !strings.Contains(page, errDown.Error()) || !strings.Contains(page, `"state": "stale"`) {
		t.Errorf("the page does not say that the content is stale:\n%s", page)
	}
	if failure := failsWith(t, r, reload.Fetching); !errors.Is(failure, errDown) { // it is loaded already
		t.Error(failure)
	}

	push(fake, "new")
	succeeds(t, r, c, "new")
	if s := r.Status(); s.Stale != nil {
		t.Errorf("the content is stale: %v", s.Stale)
	}
	cacheHas(t, dir, onlyTheKept)
}

func TestRestartTransfersNothingTwice(t *testing.T) {
	t.Parallel()
	dir, origin := t.TempDir(), new(reloadtest.Fake)
	push(origin, "good")
	cacheRestarts(t, origin, dir, "good")
	origin.Truncate(0, errDown) // a transfer would fail
	r, _ := cacheRestarts(t, origin, dir, "good")
	if s := r.Status(); s.Stale != nil || s.Revision != "1" {
		t.Errorf("the status is %+v", s)
	}
}

func TestRestartWithBrokenTransfers(t *testing.T) {
	t.Parallel()
	dir, fake, _, _ := cacheKept(t, "good")
	push(fake, "new content")
	fake.Truncate(5, errDown)
	r, c := cacheRestarts(t, fake, dir, "good")
	if s := r.Status(); !errors.Is(s.Stale, errDown) || fake.Open() != 0 {
		t.Errorf("the status is %+v, %d bodies are open", s, fake.Open())
	}
	fake.Truncate(-1, nil)
	succeeds(t, r, c, "new content")
}

func TestRestartWithBadContent(t *testing.T) {
	t.Parallel()
	dir, fake, _, _ := cacheKept(t, "good")
	push(fake, "bad")
	r, c := cacheRestarts(t, fake, dir, "good")
	if s := r.Status(); s.Stale != nil || s.Refused != "2" || s.State() != "refused" || s.Failures != 1 {
		t.Errorf("the status is %+v", s)
	}
	transfers := fake.Fetches()
	fake.Truncate(0, errDown) // another transfer would fail
	for range 3 {
		failsWith(t, r, reload.Loading) // as before
		is(t, c, "good")
	}
	if s := r.Status(); s.Refused != "2" || fake.Fetches() != transfers+3 {
		t.Errorf("the status is %+v", s)
	}
	push(fake, "new")
	succeeds(t, r, c, "new")
}

// After a restart, too, load has something to compare with.
func TestRestartComparesWithKeptContent(t *testing.T) {
	t.Parallel()
	dir, fake, _, _ := cacheKept(t, "a good table")
	push(fake, "short")
	c, _ := newTexts()
	r := reload.New(c, reload.Cache(fake, dir), func(ctx context.Context, next, current *text, content *reload.Content) error {
		if err := load(ctx, next, current, content); err != nil || current == nil {
			return err
		}
		return reload.CheckLoss(len(current.value), len(next.value), 0.5)
	}, reload.Options{Logger: quiet})
	succeeds(t, r, c, "a good table")
	if s := r.Status(); s.Refused != "2" {
		t.Errorf("the status is %+v", s)
	}
	cacheRestarts(t, fake, dir, "short") // without the check: after the kept content
	cacheHas(t, dir, onlyTheKept)
}

// A load that has become stricter can refuse the kept content.
func TestRestartWithStricterLoad(t *testing.T) {
	t.Parallel()
	dir, fake, _, c := cacheKept(t, "good")
	strict := reload.New(c, reload.Cache(fake, dir), func(context.Context, *text, *text, *reload.Content) error { return errBad }, reload.Options{Logger: quiet})
	fake.Truncate(0, errDown) // a transfer would fail otherwise
	for range 3 {
		if failure := failsWith(t, strict, reload.Loading); failure.Revision != "1" || !failure.Refused {
			t.Error(failure)
		}
	}
	if s := strict.Status(); s.Refused != "1" || s.TotalFailures != 1 {
		t.Errorf("the status is %+v", s)
	}
}

func TestRestartWithDamagedCache(t *testing.T) {
	t.Parallel()
	contentOf := func(dir string) string {
		names, err := filepath.Glob(filepath.Join(dir, "*.content"))
		if err != nil || len(names) != 1 {
			panic("no content")
		}
		return names[0]
	}
	replace := func(dir, old, by string) error {
		name := filepath.Join(dir, "kept.json")
		all, err := os.ReadFile(name)
		if err == nil && !strings.Contains(string(all), old) {
			err = errors.New("no " + old)
		}
		return errors.Join(err, os.WriteFile(name, reload.Resum([]byte(strings.Replace(string(all), old, by, 1))), 0o644))
	}
	for name, test := range map[string]struct {
		damage func(dir string) error
		want   string
	}{
		"a flipped byte": {func(dir string) error { return os.WriteFile(contentOf(dir), []byte("gOod content"), 0o644) }, "its content is damaged"},
		"a short file":   {func(dir string) error { return os.Truncate(contentOf(dir), 4) }, "its content is damaged"},
		"a longer file":  {func(dir string) error { return appendTo(contentOf(dir), "!") }, "its content is damaged"},
		"an empty file":  {func(dir string) error { return os.Truncate(contentOf(dir), 0) }, "its content is damaged"},
		"no file":        {func(dir string) error { return os.Remove(contentOf(dir)) }, "no such file"},
		"a directory for the file": {func(dir string) error {
			name := contentOf(dir)
			return errors.Join(os.Remove(name), os.Mkdir(name, 0o755))
		}, "is no regular file"},
		"a record that is no JSON": {func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "kept.json"), []byte("\x00\x01"), 0o644)
		}, "invalid character"},
		"an empty record":            {func(dir string) error { return os.Truncate(filepath.Join(dir, "kept.json"), 0) }, "unexpected end of JSON input"},
		"a record of another source": {func(dir string) error { return replace(dir, `"fake"`, `"http://host/data"`) }, `it is of another source, "http://host/data"`},
		"a record of another size":   {func(dir string) error { return replace(dir, `"size": 12`, `"size": 13`) }, "its content is damaged"},
		"a record that leads out":    {func(dir string) error { return replace(dir, `"sha256": "`, `"sha256": "../`) }, "its content is damaged"},
		"a record of another revision": {func(dir string) error {
			all, err := os.ReadFile(filepath.Join(dir, "kept.json"))
			changed := strings.Replace(string(all), `"revision": "1"`, `"revision": "3"`, 1)
			return errors.Join(err, os.WriteFile(filepath.Join(dir, "kept.json"), []byte(changed), 0o644))
		}, "its record is damaged"},
		"no record": {func(dir string) error { return os.Remove(filepath.Join(dir, "kept.json")) }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, fake, _, _ := cacheKept(t, "good content")
			if err := test.damage(dir); err != nil {
				t.Fatal(err)
			}
			fake.Fail(errDown)
			r, c := start(fake, dir, reload.Options{})
			failure := failsWith(t, r, reload.Fetching)
			if !errors.Is(failure, errDown) || !strings.Contains(failure.Error(), test.want) {
				t.Errorf("the error is %v, want one that says %q", failure, test.want)
			}
			is(t, c, "")

			push(fake, "new content")
			succeeds(t, r, c, "new content")
			fake.Fail(errDown)
			cacheRestarts(t, fake, dir, "new content")
		})
	}
}

// A process does not load the content that it has kept itself.
func TestKeptContentOfTheSameProcess(t *testing.T) {
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

// Nor does a process load the kept content after it has loaded newer content.
func TestKeptContentComesBeforeNewer(t *testing.T) {
	t.Parallel()
	dir, fake, _, _ := cacheKept(t, "good")
	push(fake, "newer")
	c, _ := newTexts()
	tries := 0
	r := reload.New(c, reload.Cache(fake, dir), func(ctx context.Context, next, current *text, content *reload.Content) error {
		if tries++; tries == 1 {
			return reload.Retryable(errBad)
		}
		return load(ctx, next, current, content)
	}, reload.Options{Logger: quiet})
	succeeds(t, r, c, "newer")
	succeeds(t, r, c, "newer")
	if tries != 2 {
		t.Errorf("%d loads, want that of the kept content, and of the newer", tries)
	}
}

// An attempt that fails for its content drops the kept content. Another failure says
// nothing about it.
func TestKeptContentSurvivesTemporary(t *testing.T) {
	t.Parallel()
	for _, revision := range []string{"1", ""} {
		for name, want := range map[string]struct {
			err   error
			loads int
		}{"temporary": {reload.Retryable(errBad), 3}, "bad": {errBad, 1}} {
			dir, down, loads, fails := t.TempDir(), false, 0, want.err
			source := named{sourceFunc(func(ctx context.Context, have string) (*reload.Content, error) {
				if down {
					return nil, errDown
				}
				return given(revision, -1, "good").Fetch(ctx, have)
			}), "given"}
			cacheRestarts(t, source, dir, "good")
			down = true
			c, _ := newTexts()
			r := reload.New(c, reload.Cache(source, dir), func(ctx context.Context, next, current *text, content *reload.Content) error {
				loads++
				return errors.Join(fails, load(ctx, next, current, content))
			}, reload.Options{Logger: quiet})
			for range 3 {
				failsWith(t, r, reload.Fetching)
			}
			if loads != want.loads {
				t.Errorf("revision %q, %s: %d loads in three attempts, want %d", revision, name, loads, want.loads)
			}
			if fails = nil; name == "temporary" {
				succeeds(t, r, c, "good")
			}
		}
	}
}

// Bad content that comes after the kept content is refused. The cache has nothing
// to offer in its place.
func TestKeptContentStaysBesideBadContent(t *testing.T) {
	t.Parallel()
	dir, fake, _, _ := cacheKept(t, "good")
	push(fake, "bad")
	fetched := 0
	source := sourceFunc(func(ctx context.Context, have string) (*reload.Content, error) {
		content, err := fake.Fetch(ctx, have)
		if err == nil {
			fetched++
		}
		return content, err
	})
	c, _ := newTexts()
	r := reload.New(c, reload.Cache(named{source, "fake"}, dir), load, reload.Options{Logger: quiet})
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

func TestKeptContentIsRefusedOnce(t *testing.T) {
	t.Parallel()
	dir, fake, _, _ := cacheKept(t, "good")
	push(fake, "bad")
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

// Kept content is offered again if its attempt ended for a reason that says nothing
// about it.
func TestKeptContentSurvivesCancel(t *testing.T) {
	t.Parallel()
	dir, fake, _, _ := cacheKept(t, "good")
	fake.Fail(errDown)
	c, _ := newTexts()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r := reload.New(c, reload.Cache(fake, dir), func(loading context.Context, next, current *text, content *reload.Content) error {
		cancel()
		return load(loading, next, current, content)
	}, reload.Options{Logger: quiet})
	if err := r.Reload(ctx); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	is(t, c, "")
	succeeds(t, r, c, "good")
}

func TestRestartLogs(t *testing.T) {
	t.Parallel()
	dir, fake := t.TempDir(), new(reloadtest.Fake)
	push(fake, "content")
	var lines logs
	start := func() {
		c, _ := newTexts()
		succeeds(t, reload.New(c, reload.Cache(fake, dir), load, reload.Options{Logger: lines.logger(slog.LevelInfo)}), c, "content")
	}
	start()
	fake.Fail(errBad)
	start()
	all := lines.all()
	if len(all) != 3 || strings.Contains(all[0], "stale") || !strings.Contains(all[1], `stale="the origin was not asked yet"`) || !strings.Contains(all[2], "bad row 3 (version 1 stays") {
		t.Errorf("the log is %q", all)
	}
}
