package reload_test

import (
	"cmp"
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

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/reload"
	"github.com/poolswap/poolswap/reload/reloadtest"
)

// start returns the Reloader of a Cache in a new process.
func start(source reload.Source, dir string, options reload.Options) (*reload.Reloader, *texts) {
	c, _ := newTexts()
	options.Logger = quiet
	return reload.New(c, reload.Cache(source, dir), load, options), c
}

// cacheKept returns a cache that has kept content, its source, and the Reloader that
// loaded it.
func cacheKept(t *testing.T, content string) (dir string, fake *reloadtest.Fake, r *reload.Reloader, c *texts) {
	t.Helper()
	dir, fake = t.TempDir(), new(reloadtest.Fake)
	push(fake, "%s", content)
	r, c = start(fake, dir, reload.Options{})
	succeeds(t, r, c, content)
	return dir, fake, r, c
}

// cacheRestarts fails unless a new process loads want. It returns that process's
// Reloader.
func cacheRestarts(t *testing.T, source reload.Source, dir, want string) (*reload.Reloader, *texts) {
	t.Helper()
	r, c := start(source, dir, reload.Options{})
	succeeds(t, r, c, want)
	return r, c
}

// filesIn returns the names in a directory but for its lock, those of contents as
// "content".
func filesIn(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		name := entry.Name()
		if name == "lock" {
			continue
		}
		if strings.HasSuffix(name, ".content") {
			name = "content"
		}
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// cacheHas fails unless a directory has these names, as filesIn returns them.
func cacheHas(t *testing.T, dir string, want []string) {
	t.Helper()
	if names := filesIn(t, dir); !slices.Equal(names, want) {
		t.Errorf("the cache has %v, want %v", names, want)
	}
}

var onlyTheKept = []string{"content", "kept.json"}

func TestCacheKeepsNoRefusedContent(t *testing.T) {
	t.Parallel()
	dir, fake, r, _ := cacheKept(t, "good")
	push(fake, "bad")
	failsWith(t, r, reload.Loading)
	cacheHas(t, dir, onlyTheKept)
	fake.Fail(errDown)
	cacheRestarts(t, fake, dir, "good")

	push(fake, "bad")
	fresh := t.TempDir()
	r, _ = start(fake, fresh, reload.Options{})
	failsWith(t, r, reload.Loading)
	cacheHas(t, fresh, nil)
}

func TestCacheDeletesOldFiles(t *testing.T) {
	t.Parallel()
	dir, fake := t.TempDir(), new(reloadtest.Fake)
	write(t, filepath.Join(dir, "foreign"), "")
	write(t, filepath.Join(dir, "1.part"), "of a process that died")
	write(t, filepath.Join(dir, strings.Repeat("0", 64)+".content"), "of a process that died")
	r, c := start(fake, dir, reload.Options{})
	want := []string{"content", "foreign", "kept.json"}
	for i := range 5 {
		push(fake, "content %d", i%4)
		succeeds(t, r, c, "content "+string(rune('0'+i%4)))
		cacheHas(t, dir, want)
	}
	push(fake, "content 0") // the same bytes under a new revision
	succeeds(t, r, c, "content 0")
	cacheHas(t, dir, want)
	fake.Fail(errDown)
	cacheRestarts(t, fake, dir, "content 0")
}

// A transfer that fails leaves the kept content, and no part of a file.
func TestCacheSurvivesBrokenTransfer(t *testing.T) {
	t.Parallel()
	dir, fake, r, c := cacheKept(t, "good")
	push(fake, "new content")
	for _, broken := range []error{errDown, nil} {
		fake.Truncate(5, broken)
		failure := failsWith(t, r, reload.Fetching)
		if want := broken; failure.Refused || want != nil && !errors.Is(failure, want) || want == nil && !errors.Is(failure, io.ErrUnexpectedEOF) {
			t.Errorf("the error is %v", failure)
		}
		is(t, c, "good")
		cacheHas(t, dir, onlyTheKept)
		if fake.Open() != 0 {
			t.Errorf("%d bodies are open", fake.Open())
		}
	}
	fake.Truncate(-1, nil)
	succeeds(t, r, c, "new content")
}

func TestCacheDirectoryNotWritable(t *testing.T) {
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

func TestCacheLogsFailureToKeep(t *testing.T) {
	t.Parallel()
	dir, fake, lines := t.TempDir(), new(reloadtest.Fake), new(logs)
	if err := os.Mkdir(filepath.Join(dir, "kept.json"), 0o755); err != nil { // cannot be replaced by a file
		t.Fatal(err)
	}
	c, _ := newTexts()
	r := reload.New(c, reload.Cache(fake, dir), load, reload.Options{Logger: lines.logger(0)})
	push(fake, "good")
	succeeds(t, r, c, "good")
	if all := lines.all(); len(all) != 3 || !strings.HasPrefix(all[0], `level=WARN msg="reload: kept content cannot be used" source=fake error="the cache in `) ||
		!strings.HasPrefix(all[1], `level=WARN msg="reload: published, but" source=fake error="rename `) {
		t.Errorf("the log is %q", all)
	}
	cacheHas(t, dir, []string{"kept.json"})
}

// A load that maps the file has it for as long as it likes.
func TestCacheFile(t *testing.T) {
	t.Parallel()
	for _, restarted := range []bool{false, true} {
		dir, fake := t.TempDir(), new(reloadtest.Fake)
		push(fake, "first content")
		source := reload.Cache(fake, dir)
		if restarted {
			cacheRestarts(t, fake, dir, "first content")
			fake.Fail(errDown)
		}
		fetch := func() (*reload.Content, error) { return source.Fetch(t.Context(), "") }
		if restarted {
			fetch = func() (*reload.Content, error) {
				content, _, err := source.(reload.Restorer).Restore(t.Context())
				return content, err
			}
		}
		content, err := fetch()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := content.File.WriteAt([]byte("!"), 0); err == nil {
			t.Error("load can write to the file")
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

// A file that one Reloader uses is not deleted by another one of the Source.
func TestCacheShared(t *testing.T) {
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
	cacheRestarts(t, fake, dir, "shared")
}

func TestCacheMaxBytes(t *testing.T) {
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
			cacheHas(t, dir, nil)
			if closed != 1 {
				t.Errorf("the body was closed %d times", closed)
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

func TestCacheKeepsModified(t *testing.T) {
	t.Parallel()
	dir, made, fake := t.TempDir(), time.Date(2024, 5, 6, 7, 8, 9, 0, time.UTC), new(reloadtest.Fake)
	push(fake, "good")
	source := &dated{Source: fake, modified: made}
	for _, err := range []error{nil, errDown} { // the origin, and a restart without it
		fake.Fail(err)
		r, _ := cacheRestarts(t, source, dir, "good")
		if s := r.Status(); !s.Modified.Equal(made) || (s.Stale != nil) != (err != nil) {
			t.Errorf("the content was made at %v and is stale: %v", s.Modified, s.Stale)
		}
	}
}

// Other content with the revision of the kept content is published and cannot be kept.
// After a restart, the origin would say that the kept content is the newest.
func TestCacheForgetsContentOfThatRevision(t *testing.T) {
	t.Parallel()
	rows, state := "old", ""
	source := sourceFunc(func(_ context.Context, have string) (*reload.Content, error) {
		if have == "1" && rows == "" {
			return nil, reload.ErrNotModified
		}
		return &reload.Content{Revision: "1", State: state, Size: -1, Body: io.NopCloser(strings.NewReader(cmp.Or(rows, "new")))}, nil
	})
	dir := t.TempDir()
	r, c := cacheRestarts(t, source, dir, "old")
	rows, state = "new", strings.Repeat("0", 1<<20) // its record is too long
	succeeds(t, r, c, "new")
	cacheHas(t, dir, nil)
	rows, state = "", ""
	cacheRestarts(t, source, dir, "new")
}

func TestCacheCallsPublished(t *testing.T) {
	t.Parallel()
	dir, fake := t.TempDir(), new(reloadtest.Fake)
	push(fake, "good")
	source := &dated{Source: fake}
	c, _ := newTexts()
	r := reload.New(c, reload.Cache(source, dir), func(ctx context.Context, next, current *text, content *reload.Content) error {
		err := load(ctx, next, current, content)
		return errors.Join(err, os.RemoveAll(dir)) // it cannot be kept
	}, reload.Options{Logger: quiet})
	succeeds(t, r, c, "good")
	if source.published != 1 {
		t.Errorf("Published was called %d times", source.published)
	}
}

// A body of unknown length is cut where the Reloader that takes the most would
// refuse it, not where another one would.
func TestCacheSharedMaxBytes(t *testing.T) {
	t.Parallel()
	cache := reload.Cache(given("1", -1, "good and long"), t.TempDir())
	large, _ := newTexts()
	small, _ := newTexts()
	takesAll := reload.New(large, cache, load, reload.Options{MaxBytes: 100, Logger: quiet})
	takesLittle := reload.New(small, cache, load, reload.Options{MaxBytes: 5, Logger: quiet})
	succeeds(t, takesAll, large, "good and long")
	failsWith(t, takesLittle, reload.Reading)
}

// A Body that panics leaves no half of it behind, on disk or open.
func TestCacheBodyPanics(t *testing.T) {
	t.Parallel()
	dir, closed := t.TempDir(), 0
	r, _ := start(sourceFunc(func(context.Context, string) (*reload.Content, error) {
		return &reload.Content{Revision: "1", Size: -1, Body: struct {
			io.Reader
			io.Closer
		}{panicReader{}, closing(func() error { closed++; return nil })}}, nil
	}), dir, reload.Options{})
	if failure := failsWith(t, r, reload.Fetching); !errors.As(failure, new(*poolswap.HookPanicError)) {
		t.Error(failure)
	}
	cacheHas(t, dir, nil)
	if closed != 1 {
		t.Errorf("the Body was closed %d times", closed)
	}
}

// A record that cannot be read for a moment does not cost the kept content.
func TestCacheRecordUnreadable(t *testing.T) {
	t.Parallel()
	dir, fake, r, _ := cacheKept(t, "good")
	record := filepath.Join(dir, "kept.json")
	if err := errors.Join(os.Rename(record, record+".aside"), os.Symlink(record, record)); err != nil {
		t.Skip(err)
	}
	push(fake, "bad")
	failsWith(t, r, reload.Loading)
	if err := os.Rename(record+".aside", record); err != nil {
		t.Fatal(err)
	}
	fake.Fail(errDown)
	cacheRestarts(t, fake, dir, "good")
}
