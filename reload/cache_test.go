package reload_test

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/poolswap/poolswap/reload"
	"github.com/poolswap/poolswap/reload/reloadtest"
)

var errDown = errors.New("the origin is down")

// start returns what a new process has: a Reloader of a Cache.
func start(source reload.Source, dir string, options reload.Options) (*reload.Reloader, *texts) {
	c, _ := newTexts()
	options.Logger = quiet
	return reload.New(c, reload.Cache(source, dir), load, options), c
}

// filesIn returns the names in a directory, those of contents as "content".
func filesIn(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		name := entry.Name()
		if strings.HasSuffix(name, ".content") {
			name = "content"
		}
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

var onlyTheKept = []string{"content", "kept.json"}

func TestARestartWhileTheOriginIsDownLoadsWhatIsKept(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "made", "by", "Cache")
	fake := new(reloadtest.Fake)
	push(fake, "good")
	r, c := start(fake, dir, reload.Options{})
	succeeds(t, r, c, "good")
	if s := r.Status(); s.Stale != nil || s.Revision != "1" {
		t.Errorf("the status is %+v", s)
	}

	fake.Fail(errDown)
	r, c = start(fake, dir, reload.Options{})
	succeeds(t, r, c, "good")
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
	if names := filesIn(t, dir); !slices.Equal(names, onlyTheKept) {
		t.Errorf("the cache has %v", names)
	}
}

func TestARestartWithNothingNewerTransfersNothing(t *testing.T) {
	t.Parallel()
	dir, origin := t.TempDir(), new(reloadtest.Fake)
	push(origin, "good")
	r, c := start(origin, dir, reload.Options{})
	succeeds(t, r, c, "good")
	origin.Truncate(0, errDown) // a transfer would fail
	r, c = start(origin, dir, reload.Options{})
	succeeds(t, r, c, "good")
	if s := r.Status(); s.Stale != nil || s.Revision != "1" {
		t.Errorf("the status is %+v", s)
	}
}

func TestARestartWhileTransfersBreakLoadsWhatIsKept(t *testing.T) {
	t.Parallel()
	dir, fake := t.TempDir(), new(reloadtest.Fake)
	push(fake, "good")
	r, c := start(fake, dir, reload.Options{})
	succeeds(t, r, c, "good")
	push(fake, "new content")
	fake.Truncate(5, errDown)
	r, c = start(fake, dir, reload.Options{})
	succeeds(t, r, c, "good")
	if s := r.Status(); !errors.Is(s.Stale, errDown) || fake.Open() != 0 {
		t.Errorf("the status is %+v, %d bodies are open", s, fake.Open())
	}
	fake.Truncate(-1, nil)
	succeeds(t, r, c, "new content")
}

func TestARestartWhileTheOriginHasBadContentLoadsWhatIsKept(t *testing.T) {
	t.Parallel()
	dir, fake := t.TempDir(), new(reloadtest.Fake)
	push(fake, "good")
	r, c := start(fake, dir, reload.Options{})
	succeeds(t, r, c, "good")
	push(fake, "bad")
	r, c = start(fake, dir, reload.Options{})
	failsWith(t, r, reload.Loading)
	succeeds(t, r, c, "good")
	if s := r.Status(); s.Stale == nil || s.Stale.Error() != "the newest content was refused" {
		t.Errorf("the status is %+v", s)
	}
	failsWith(t, r, reload.Loading) // it may have become good
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

	for _, record := range []string{"bad too", "bad again"} { // by a load that has become stricter
		push(fake, "%s", record)
		failsWith(t, r, reload.Loading)
	}
	strict := reload.New(c, reload.Cache(fake, dir), func(context.Context, *text, *text, *reload.Content) error { return errBad }, reload.Options{Logger: quiet})
	for range 2 {
		failsWith(t, strict, reload.Loading) // first the newest, then what is kept
	}
	failsWith(t, strict, reload.Loading)
	fake.Truncate(0, errDown) // another transfer would fail otherwise
	for range 3 {
		failsWith(t, strict, reload.Loading)
	}
}

func TestADamagedCacheIsNotUsedAndDoesNoHarm(t *testing.T) {
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
		return errors.Join(err, os.WriteFile(name, []byte(strings.Replace(string(all), old, by, 1)), 0o644))
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
		}, "is a directory"},
		"a record that is no JSON": {func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "kept.json"), []byte("\x00\x01"), 0o644)
		}, "invalid character"},
		"an empty record":            {func(dir string) error { return os.Truncate(filepath.Join(dir, "kept.json"), 0) }, "unexpected end of JSON input"},
		"a record of another source": {func(dir string) error { return replace(dir, `"fake"`, `"http://host/data"`) }, "it is of another source, http://host/data"},
		"a record of another size":   {func(dir string) error { return replace(dir, `"size": 12`, `"size": 13`) }, "its content is damaged"},
		"a record that leads out":    {func(dir string) error { return replace(dir, `"sha256": "`, `"sha256": "../`) }, "no such file"},
		"no record":                  {func(dir string) error { return os.Remove(filepath.Join(dir, "kept.json")) }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, fake := t.TempDir(), new(reloadtest.Fake)
			push(fake, "good content")
			r, c := start(fake, dir, reload.Options{})
			succeeds(t, r, c, "good content")
			if err := test.damage(dir); err != nil {
				t.Fatal(err)
			}
			fake.Fail(errDown)
			r, c = start(fake, dir, reload.Options{})
			failure := failsWith(t, r, reload.Fetching)
			if !errors.Is(failure, errDown) || !strings.Contains(failure.Error(), test.want) {
				t.Errorf("the error is %v, want one that says %q", failure, test.want)
			}
			is(t, c, "")

			push(fake, "new content")
			succeeds(t, r, c, "new content")
			fake.Fail(errDown)
			r, c = start(fake, dir, reload.Options{})
			succeeds(t, r, c, "new content")
		})
	}
}

func TestContentThatIsRefusedIsNotKept(t *testing.T) {
	t.Parallel()
	dir, fake := t.TempDir(), new(reloadtest.Fake)
	push(fake, "good")
	r, c := start(fake, dir, reload.Options{})
	succeeds(t, r, c, "good")
	push(fake, "bad")
	failsWith(t, r, reload.Loading)
	if names := filesIn(t, dir); !slices.Equal(names, onlyTheKept) {
		t.Errorf("the cache has %v", names)
	}
	fake.Fail(errDown)
	r, c = start(fake, dir, reload.Options{})
	succeeds(t, r, c, "good")

	push(fake, "bad")
	fresh := t.TempDir()
	r, _ = start(fake, fresh, reload.Options{})
	failsWith(t, r, reload.Loading)
	if names := filesIn(t, fresh); len(names) != 0 {
		t.Errorf("the cache has %v", names)
	}
}

func TestOldContentsAreDeleted(t *testing.T) {
	t.Parallel()
	dir, fake := t.TempDir(), new(reloadtest.Fake)
	write(t, filepath.Join(dir, "foreign"), "")
	write(t, filepath.Join(dir, "1.part"), "of a process that died")
	write(t, filepath.Join(dir, "2.part"), "of a process that may live")
	write(t, filepath.Join(dir, strings.Repeat("0", 64)+".content"), "of a process that died")
	long := time.Now().Add(-48 * time.Hour)
	if err := os.Chtimes(filepath.Join(dir, "1.part"), long, long); err != nil {
		t.Fatal(err)
	}
	r, c := start(fake, dir, reload.Options{})
	want := []string{"2.part", "content", "foreign", "kept.json"}
	for i := range 5 {
		push(fake, "content %d", i%4)
		succeeds(t, r, c, "content "+string(rune('0'+i%4)))
		if names := filesIn(t, dir); !slices.Equal(names, want) {
			t.Errorf("after content %d the cache has %v, want %v", i, names, want)
		}
	}
	push(fake, "content 0") // the same bytes under a new revision
	succeeds(t, r, c, "content 0")
	if names := filesIn(t, dir); !slices.Equal(names, want) {
		t.Errorf("after the same content the cache has %v, want %v", names, want)
	}
	fake.Fail(errDown)
	r, c = start(fake, dir, reload.Options{})
	succeeds(t, r, c, "content 0")
}

// A transfer that fails leaves what is kept, and no part of a file.
func TestABrokenTransferLeavesTheCacheAsItWas(t *testing.T) {
	t.Parallel()
	dir, fake := t.TempDir(), new(reloadtest.Fake)
	push(fake, "good")
	r, c := start(fake, dir, reload.Options{})
	succeeds(t, r, c, "good")
	push(fake, "new content")
	for _, broken := range []error{errDown, nil} {
		fake.Truncate(5, broken)
		failure := failsWith(t, r, reload.Fetching)
		if want := broken; failure.Refused || want != nil && !errors.Is(failure, want) || want == nil && !errors.Is(failure, io.ErrUnexpectedEOF) {
			t.Errorf("the error is %v", failure)
		}
		is(t, c, "good")
		if names := filesIn(t, dir); !slices.Equal(names, onlyTheKept) || fake.Open() != 0 {
			t.Errorf("the cache has %v, %d bodies are open", names, fake.Open())
		}
	}
	fake.Truncate(-1, nil)
	succeeds(t, r, c, "new content")
}

func TestADirectoryThatCannotBeWrittenIsAnError(t *testing.T) {
	t.Parallel()
	fake := new(reloadtest.Fake)
	push(fake, "good")
	file := filepath.Join(t.TempDir(), "file")
	write(t, file, "")
	for _, dir := range []string{file, filepath.Join(file, "below")} {
		r, c := start(fake, dir, reload.Options{})
		var path *fs.PathError
		if failure := failsWith(t, r, reload.Fetching); !errors.As(failure, &path) || failure.Refused {
			t.Errorf("the error is %v", failure)
		}
		is(t, c, "")
		if fake.Open() != 0 {
			t.Errorf("%d bodies are open", fake.Open())
		}
	}
}

func TestContentThatCannotBeKeptIsPublishedAndLogged(t *testing.T) {
	t.Parallel()
	dir, fake, lines := t.TempDir(), new(reloadtest.Fake), new(logs)
	if err := os.Mkdir(filepath.Join(dir, "kept.json"), 0o755); err != nil { // cannot be replaced by a file
		t.Fatal(err)
	}
	c, _ := newTexts()
	r := reload.New(c, reload.Cache(fake, dir), load, reload.Options{Logger: lines.logger(0)})
	push(fake, "good")
	succeeds(t, r, c, "good")
	if all := lines.all(); len(all) != 2 || !strings.HasPrefix(all[0], `level=WARN msg="reload: published, but" source=fake error="rename `) {
		t.Errorf("the log is %q", all)
	}
	if names := filesIn(t, dir); !slices.Equal(names, []string{"kept.json"}) {
		t.Errorf("the cache has %v", names)
	}
}

// A load that maps the file has it for as long as it likes.
func TestTheFileOfACacheOutlivesItsName(t *testing.T) {
	t.Parallel()
	for _, restarted := range []bool{false, true} {
		dir, fake := t.TempDir(), new(reloadtest.Fake)
		push(fake, "first content")
		source := reload.Cache(fake, dir)
		if restarted {
			r, c := start(fake, dir, reload.Options{})
			succeeds(t, r, c, "first content")
			fake.Fail(errDown)
		}
		content, err := source.Fetch(t.Context(), "")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
		if text, err := io.ReadAll(io.NewSectionReader(content.File, 0, 1<<20)); err != nil || string(text) != "first content" {
			t.Errorf("File has %q (%v)", text, err)
		}
		if text, err := io.ReadAll(content.Body); err != nil || string(text) != "first content" {
			t.Errorf("Body has %q (%v)", text, err)
		}
		if err := content.Body.Close(); err != nil {
			t.Error(err)
		}
	}
}

// What is in use by one Reloader is not deleted by another one of the Source.
func TestReloadersMayShareACache(t *testing.T) {
	t.Parallel()
	dir, fake := t.TempDir(), new(reloadtest.Fake)
	source := reload.Cache(fake, dir)
	push(fake, "shared")
	first, err := source.Fetch(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	push(fake, "other")
	for _, text := range []string{"shared", "other"} {
		push(fake, "%s", text)
		second, err := source.Fetch(t.Context(), "")
		if err != nil {
			t.Fatal(err)
		}
		if err := second.Body.Close(); err != nil {
			t.Error(err)
		}
	}
	if err := first.Published(); err != nil {
		t.Error(err)
	}
	if err := first.Body.Close(); err != nil {
		t.Error(err)
	}
	fake.Fail(errDown)
	r, c := start(fake, dir, reload.Options{})
	succeeds(t, r, c, "shared")
}

func TestContentTooLargeForTheCacheIsRefused(t *testing.T) {
	t.Parallel()
	for name, size := range map[string]int64{"announced": 11, "not announced": -1, "announced and much larger": 1 << 40} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			read, closed, fetches := 0, 0, 0
			dir := t.TempDir()
			r, c := start(sourceFunc(func(_ context.Context, have string) (*reload.Content, error) {
				if fetches++; have == "large" {
					return nil, reload.ErrNotModified
				}
				body := strings.NewReader("01234567890")
				return &reload.Content{Revision: "large", Size: size, Body: struct {
					io.Reader
					io.Closer
				}{reading(func(p []byte) (int, error) { n, err := body.Read(p); read += n; return n, err }), closing(func() error { closed++; return nil })}}, nil
			}), dir, reload.Options{MaxBytes: 10})
			if failure := failsWith(t, r, reload.Reading); !failure.Refused || !strings.Contains(failure.Error(), "larger than Options.MaxBytes") {
				t.Errorf("the error is %v", failure)
			}
			is(t, c, "")
			if size > 0 && read != 0 {
				t.Errorf("%d bytes were read of content that announces to be too large", read)
			}
			if names := filesIn(t, dir); len(names) != 0 || closed != 1 {
				t.Errorf("the cache has %v, the body was closed %d times", names, closed)
			}
			if again := failsWith(t, r, reload.Reading); !again.Refused || fetches != 2 || closed != 1 { // it is not fetched again
				t.Errorf("Reload after the refusal: %v", again)
			}
		})
	}
	exact := new(reloadtest.Fake)
	push(exact, "0123456789")
	r, c := start(exact, t.TempDir(), reload.Options{MaxBytes: 10})
	succeeds(t, r, c, "0123456789")
}

// reading is an io.Reader that is a function.
type reading func([]byte) (int, error)

func (f reading) Read(p []byte) (int, error) { return f(p) }

// closing is an io.Closer that is a function.
type closing func() error

func (f closing) Close() error { return f() }
