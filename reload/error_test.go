package reload_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/internal/test/pooltest"
	"github.com/poolswap/poolswap/reload"
	"github.com/poolswap/poolswap/reload/reloadtest"
)

// TestErrorTexts gives bad input twice: to a Reloader that has loaded nothing, and
// to one that has. Each text names the source, the mistake, the stage, the current
// version, and the next step.
func TestErrorTexts(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in := func(name, content string) string {
		write(t, filepath.Join(dir, name), content)
		return filepath.Join(dir, name)
	}
	serve := func(handler http.HandlerFunc) string { return site(t, handler).URL + "/data" }
	fake := func(prepare func(*reloadtest.Fake)) reload.Source {
		f := new(reloadtest.Fake)
		push(f, "content")
		prepare(f)
		return plain{f}
	}
	public, _ := key('a')
	damaged := filepath.Join(dir, "cache")
	if err := errors.Join(os.Mkdir(damaged, 0o755), os.WriteFile(filepath.Join(damaged, "kept.json"), []byte("{"), 0o644)); err != nil {
		t.Fatal(err)
	}
	const (
		again = "; it is tried again)"
		never = "; not tried again until the revision changes)"
	)
	for name, test := range map[string]struct {
		source reload.Source
		want   string // DIR and URL differ from run to run
		next   string
	}{
		"no such file":                   {reload.File(filepath.Join(dir, "missing")), "DIR/missing: fetch: stat DIR/missing: no such file or directory", again},
		"a directory":                    {reload.File(dir), "DIR: fetch: open DIR: is no regular file but d---------", again},
		"an empty name":                  {reload.File(""), ": fetch: stat : no such file or directory", again},
		"a name with a NUL":              {reload.File("a\x00b"), "a\x00b: fetch: stat a\x00b: invalid argument", again},
		"below a file":                   {reload.File(filepath.Join(in("file", ""), "below")), "DIR/file/below: fetch: stat DIR/file/below: not a directory", again},
		"no such FS file":                {reload.FS(fstest.MapFS{}, "missing"), "missing: fetch: open missing: file does not exist", again},
		"an FS name that is no path":     {reload.FS(os.DirFS(dir), "../up"), "../up: fetch: stat ../up: invalid argument", again},
		"a row that is bad":              {given("7", -1, "bad"), `given: revision "7": load: bad row 3`, never},
		"a load that panics":             {given("7", -1, "panic"), `given: revision "7": load: panic: no such column`, never},
		"bad content without a revision": {given("", -1, "bad"), `given: load: bad row 3`, again},
		"a body that is short":           {given("7", 9, "content"), `given: revision "7": read: the body ends after 7 of 9 bytes: unexpected EOF`, again},
		"a body that is long":            {given("7", 5, "content"), `given: revision "7": read: the body is longer than the 5 bytes that the source announced`, again},
		"content that is too large":      {given("7", -1, strings.Repeat("x", 101)), `given: revision "7": read: larger than Options.MaxBytes (100)`, never},
		"content announced too large":    {given("7", 101, ""), `given: revision "7": read: larger than Options.MaxBytes (100): 101 bytes are announced`, never},
		"a connection that breaks":       {fake(func(f *reloadtest.Fake) { f.Truncate(3, errors.New("connection reset")) }), `reload_test.plain: revision "1": read: connection reset`, again},
		"a checksum that does not fit": {
			reload.VerifySHA256(given("7", -1, "content"), given("8", -1, strings.Repeat("0", 64))),
			fmt.Sprintf(`given: revision %q: verify: its SHA-256 is %x, and given says %s`, checkedRevision("7", strings.Repeat("0", 64)), sumOf("content"), strings.Repeat("0", 64)), again,
		},
		"no checksum": {reload.VerifySHA256(given("7", -1, "content"), reload.File(filepath.Join(dir, "sum"))), "given: fetch: DIR/sum: stat DIR/sum: no such file or directory", again},
		"a signature of nonsense": {
			reload.VerifyEd25519(given("7", -1, "content"), given("8", -1, "?"), public),
			fmt.Sprintf(`given: revision %q: verify: given holds no Ed25519 signature of 64 bytes, raw or in base64`, checkedRevision("7", "?")), again,
		},
		"a status": {reload.HTTP(serve(http.NotFound), reload.HTTPOptions{}), `URL/data: fetch: status 404 Not Found, "404 page not found\n"`, again},
		"a body that the server cuts": {reload.HTTP(serve(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "9")
			fmt.Fprint(w, "half")
		}), reload.HTTPOptions{}), `URL/data: read: unexpected EOF`, again},
		"gzip that is none": {reload.HTTP(serve(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			fmt.Fprint(w, "this is no gzip")
		}), reload.HTTPOptions{}), `URL/data: read: gzip: invalid header`, again},
		"a cache that cannot be used": {
			reload.Cache(fake(func(f *reloadtest.Fake) { f.Fail(errDown) }), damaged),
			"reload_test.plain: fetch: the origin is down; the cache in DIR/cache: unexpected end of JSON input", again,
		},
		"a fallback": {
			reload.Fallback(reload.File(filepath.Join(dir, "origin")), reload.File(filepath.Join(dir, "mirror"))),
			"fetch: DIR/origin: stat DIR/origin: no such file or directory; DIR/mirror: stat DIR/mirror: no such file or directory", again,
		},
		"a joined fallback": {
			reload.Join(reload.Fallback(reload.File(filepath.Join(dir, "users"))), reload.Fallback(reload.File(filepath.Join(dir, "origin")), reload.File(filepath.Join(dir, "mirror")))),
			"fetch: DIR/origin: stat DIR/origin: no such file or directory; DIR/mirror: stat DIR/mirror: no such file or directory", again,
		},
		"a joined file that is missing": {reload.Join(reload.File(in("users", "x")), reload.File(filepath.Join(dir, "roles"))), "DIR/users, DIR/roles: fetch: DIR/roles: stat DIR/roles: no such file or directory", again},
		"a joined body that is short":   {reload.Join(given("7", -1, "content"), given("8", 9, "content")), `given, given: revision "7 8": read: given: the body ends after 7 of 9 bytes: unexpected EOF`, again},
		"joined content that is bad":    {reload.Join(given("7 a", -1, "bad"), given("8", -1, "")), `given, given: revision "7%20a 8": load: bad row 3`, never},
		"joined content too large":      {reload.Join(given("7", -1, strings.Repeat("x", 60)), given("8", -1, strings.Repeat("x", 60))), `given, given: revision "7 8": read: larger than Options.MaxBytes (100)`, never},
		"a joined checksum that does not fit": {
			reload.Join(given("7", -1, "x"), reload.VerifySHA256(named{given("8", -1, "y"), "table"}, named{given("9", -1, strings.Repeat("0", 64)), "sum"})),
			fmt.Sprintf(`given, table: revision %q: verify: table: its SHA-256 is %x, and sum says %s`, "7 "+strings.ReplaceAll(strings.ReplaceAll(checkedRevision("8", strings.Repeat("0", 64)), " ", "%20"), "|", "%7C"), sumOf("y"), strings.Repeat("0", 64)), again,
		},
		"a checksum of what turns out to have parts": {
			reload.VerifySHA256(named{reload.Join(given("7", -1, "x")), "wrapped"}, given("8", -1, strings.Repeat("0", 64))),
			fmt.Sprintf("wrapped: revision %q: fetch: the Source returned content with Parts and a Verify or Changed: give it to a part", checkedRevision("7", strings.Repeat("0", 64))), again,
		},
		"a cache of what turns out to have parts": {reload.Cache(named{reload.Join(given("7", -1, "x")), "wrapped"}, filepath.Join(dir, "unused")), "wrapped: fetch: a Cache cannot keep content with Parts: put one around the source of each part", again},
		"a body that is missing":                  {sourceFunc(func(context.Context, string) (*reload.Content, error) { return &reload.Content{Revision: "7"}, nil }), `reload_test.sourceFunc: revision "7": fetch: the Source returned content without a Body`, again},
		"a cache that cannot be made":             {reload.Cache(given("7", -1, "content"), in("no directory", "")), "given: fetch: mkdir DIR/no directory: not a directory; the cache in DIR/no directory: open DIR/no directory: not a directory", again},
	} {
		t.Run(name, func(t *testing.T) {
			for _, loaded := range []bool{false, true} {
				c, _ := newTexts()
				stays := "nothing is loaded yet"
				if loaded {
					version, err := c.Publish(t.Context(), func(*text, *text) error { return nil })
					if err != nil {
						t.Fatal(err)
					}
					stays = fmt.Sprintf("version %d stays", version)
				}
				err := reload.New(c, test.source, load, reload.Options{MaxBytes: 100, Logger: quiet}).Reload(t.Context())
				got := strings.ReplaceAll(textOf(err), dir, "DIR")
				want := "reload: " + test.want + " (" + stays + test.next
				if i := strings.Index(got, "URL"); i >= 0 {
					t.Fatal("the text has what stands for a URL")
				}
				if at := strings.Index(got, "http://"); at >= 0 {
					end := at + strings.Index(got[at:], "/data")
					got = got[:at] + "URL" + got[end:]
				}
				if got != want {
					t.Errorf("the text is\n%s\nwant\n%s", got, want)
				}
			}
		})
	}
}

func TestNewPanics(t *testing.T) {
	t.Parallel()
	c, _ := newTexts()
	source := new(reloadtest.Fake)
	for want, call := range map[string]func(){
		"reload: New with a nil Container": func() { reload.New((*texts)(nil), source, load, reload.Options{}) },
		"reload: New with a nil Source":    func() { reload.New(c, nil, load, reload.Options{}) },
		"reload: New with a nil load":      func() { reload.New[text](c, source, nil, reload.Options{}) },
	} {
		pooltest.WantPanic(t, want, call)
	}
	const negative = "reload: New with a negative Every, MaxBackoff, MaxRetryAfter, ObjectWait or MaxBytes"
	for _, options := range []reload.Options{{Every: -1}, {MaxBackoff: -1}, {MaxRetryAfter: -1}, {ObjectWait: -1}, {MaxBytes: -1}} {
		pooltest.WantPanic(t, negative, func() { reload.New(c, source, load, options) })
	}
	r := reload.New(c, source, load, reload.Options{})
	var none context.Context
	pooltest.WantPanic(t, "reload: Reload with a nil Context", func() { r.Reload(none) })
	pooltest.WantPanic(t, "reload: Run with a nil Context", func() { r.Run(none) })
}

// panicReader panics at each Read.
type panicReader struct{}

func (panicReader) Read([]byte) (int, error) { panic("nil map") }

// panicky returns the content of breaks at the first Fetch, and good content then.
func panicky(breaks func() *reload.Content) reload.Source {
	fetches := 0
	return sourceFunc(func(context.Context, string) (*reload.Content, error) {
		if fetches++; fetches == 1 {
			return breaks(), nil
		}
		return &reload.Content{Revision: "good", Size: -1, Body: io.NopCloser(strings.NewReader("good"))}, nil
	})
}

func TestPanicOfSource(t *testing.T) {
	t.Parallel()
	body := func(r io.Reader) *reload.Content {
		return &reload.Content{Revision: "bad", Size: -1, Body: io.NopCloser(r)}
	}
	for name, test := range map[string]struct {
		breaks func() *reload.Content
		stage  reload.Stage
	}{
		"Fetch": {func() *reload.Content { panic("nil map") }, reload.Fetching},
		"Read within load": {func() *reload.Content {
			return body(io.MultiReader(iotest.OneByteReader(strings.NewReader("abc")), panicReader{}))
		}, reload.Reading},
		"Read behind load": {func() *reload.Content {
			return body(io.MultiReader(strings.NewReader("unread"), panicReader{}))
		}, reload.Reading},
		"Verify": {func() *reload.Content {
			content := body(strings.NewReader("abc"))
			content.Verify = func([sha256.Size]byte) error { panic("nil map") }
			return content
		}, reload.Verifying},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, _ := newTexts()
			r := reload.New(c, panicky(test.breaks), func(ctx context.Context, next, current *text, content *reload.Content) error {
				if name == "Read behind load" { // load need not read to the end
					content.Body = io.NopCloser(io.LimitReader(content.Body, 4))
				}
				return load(ctx, next, current, content)
			}, reload.Options{Logger: quiet})
			failure := failsWith(t, r, test.stage)
			var panicked *poolswap.HookPanicError
			if !errors.As(failure, &panicked) || panicked.Value != "nil map" || !strings.Contains(string(panicked.Stack), "error_test.go") || failure.Refused {
				t.Errorf("the error is %v", failure)
			}
			succeeds(t, r, c, "good")
		})
	}
}

func TestPanicOfPublished(t *testing.T) {
	t.Parallel()
	c, _ := newTexts()
	var lines logs
	r := reload.New(c, panicky(func() *reload.Content {
		return &reload.Content{Revision: "1", Size: -1, Body: io.NopCloser(strings.NewReader("first")), Published: func() error { panic("nil map") }}
	}), load, reload.Options{Logger: lines.logger(slog.LevelWarn)})
	succeeds(t, r, c, "first")
	if all := lines.all(); len(all) != 1 || !strings.Contains(all[0], "reload: published, but") || !strings.Contains(all[0], "panic: nil map") {
		t.Errorf("the log is %q", all)
	}
}

// panicWaiter is a source that is asked for hints, and has none.
type panicWaiter struct{ reload.Source }

func (panicWaiter) Wait(context.Context, string) error { panic("nil map") }

func TestPanicOfWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _ := newTexts()
		var lines logs
		_, _, fake := faked(reload.Options{})
		push(fake, "first")
		r := reload.New(c, panicWaiter{fake}, load, reload.Options{Every: time.Minute, Logger: lines.logger(slog.LevelWarn)})
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- r.Run(ctx) }()
		synctest.Wait()
		is(t, c, "first")
		push(fake, "second")
		time.Sleep(2 * time.Minute)
		is(t, c, "second")
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("Run returned %v", err)
		}
		if all := lines.all(); len(all) == 0 || !strings.Contains(all[0], "no hints from the source") || !strings.Contains(all[0], "panic: nil map") {
			t.Errorf("the log is %q", all)
		}
	})
}

// closer panics when it is closed.
type closer struct{ io.Reader }

func (closer) Close() error { panic("nil map") }

func TestPanicOfClose(t *testing.T) {
	t.Parallel()
	c, _ := newTexts()
	var lines logs
	r := reload.New(c, panicky(func() *reload.Content {
		return &reload.Content{Revision: "1", Size: -1, Body: closer{strings.NewReader("first")}}
	}), load, reload.Options{Logger: lines.logger(slog.LevelWarn)})
	succeeds(t, r, c, "first")
	if all := lines.all(); len(all) != 1 || !strings.Contains(all[0], "Close of the Body") || !strings.Contains(all[0], "panic: nil map") {
		t.Errorf("the log is %q", all)
	}
	succeeds(t, r, c, "good")
}

// A Body that says that it has read more than it was asked for, or less than
// nothing, is an error, not a panic of Run.
func TestBodyCount(t *testing.T) {
	t.Parallel()
	for name, count := range map[string]func(int) int{
		"too many": func(n int) int { return n + 1 }, "negative": func(int) int { return -1 },
	} {
		for how, read := range map[string]func(context.Context, *text, *text, *reload.Content) error{
			"by load": load, "by the Reloader": func(context.Context, *text, *text, *reload.Content) error { return nil },
		} {
			c, _ := newTexts()
			r := reload.New(c, sourceFunc(func(context.Context, string) (*reload.Content, error) {
				return &reload.Content{Revision: "1", Size: -1, Body: io.NopCloser(reading(func(p []byte) (int, error) { return count(len(p)), nil }))}, nil
			}), read, reload.Options{Logger: quiet})
			if failure := failsWith(t, r, reload.Reading); failure.Refused || !strings.Contains(failure.Error(), "invalid count") {
				t.Errorf("%s, read %s: %v", name, how, failure)
			}
		}
	}
}
