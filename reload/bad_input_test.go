package reload_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/poolswap/poolswap/internal/test/pooltest"
	"github.com/poolswap/poolswap/reload"
	"github.com/poolswap/poolswap/reload/reloadtest"
)

// given is a source that gives content once and again.
func given(revision string, size int64, body string) reload.Source {
	return named{sourceFunc(func(context.Context, string) (*reload.Content, error) {
		return &reload.Content{Revision: revision, Size: size, Body: io.NopCloser(strings.NewReader(body))}, nil
	}), "given"}
}

// TestTheTextsOfErrors gives bad input twice: to a Reloader that has loaded
// nothing, and to one that has. Each text says where the input came from, what of
// it, what is wrong, at which stage, what is current, and what happens next.
func TestTheTextsOfErrors(t *testing.T) {
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
		want   string // DIR and URL stand for what differs from run to run
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
			reload.WithSHA256(given("7", -1, "content"), given("8", -1, strings.Repeat("0", 64))),
			fmt.Sprintf(`given: revision %q: verify: its SHA-256 is %x, and given says %s`, checkedRevision("7", strings.Repeat("0", 64)), sumOf("content"), strings.Repeat("0", 64)), again,
		},
		"no checksum": {reload.WithSHA256(given("7", -1, "content"), reload.File(filepath.Join(dir, "sum"))), "given: fetch: DIR/sum: stat DIR/sum: no such file or directory", again},
		"a signature of nonsense": {
			reload.WithEd25519(given("7", -1, "content"), given("8", -1, "?"), public),
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
		"a joined file that is missing": {reload.Join(reload.File(in("users", "x")), reload.File(filepath.Join(dir, "roles"))), "DIR/users, DIR/roles: fetch: DIR/roles: stat DIR/roles: no such file or directory", again},
		"a joined body that is short":   {reload.Join(given("7", -1, "content"), given("8", 9, "content")), `given, given: revision "7 8": read: given: the body ends after 7 of 9 bytes: unexpected EOF`, again},
		"joined content that is bad":    {reload.Join(given("7 a", -1, "bad"), given("8", -1, "")), `given, given: revision "7%20a 8": load: bad row 3`, never},
		"joined content too large":      {reload.Join(given("7", -1, strings.Repeat("x", 60)), given("8", -1, strings.Repeat("x", 60))), `given, given: revision "7 8": read: larger than Options.MaxBytes (100)`, never},
		"a joined checksum that does not fit": {
			reload.Join(given("7", -1, "x"), reload.WithSHA256(named{given("8", -1, "y"), "table"}, named{given("9", -1, strings.Repeat("0", 64)), "sum"})),
			fmt.Sprintf(`given, table: revision %q: verify: table: its SHA-256 is %x, and sum says %s`, "7 "+strings.ReplaceAll(strings.ReplaceAll(checkedRevision("8", strings.Repeat("0", 64)), " ", "%20"), "|", "%7C"), sumOf("y"), strings.Repeat("0", 64)), again,
		},
		"a checksum of what turns out to have parts": {
			reload.WithSHA256(named{reload.Join(given("7", -1, "x")), "wrapped"}, given("8", -1, strings.Repeat("0", 64))),
			fmt.Sprintf("wrapped: revision %q: fetch: the Source returned content with Parts and a Verify: give the Verify to a part", checkedRevision("7", strings.Repeat("0", 64))), again,
		},
		"a cache of what turns out to have parts": {reload.Cache(named{reload.Join(given("7", -1, "x")), "wrapped"}, filepath.Join(dir, "unused")), "wrapped: fetch: a Cache cannot keep content with Parts: put one around the source of each part", again},
		"a body that is missing":                  {sourceFunc(func(context.Context, string) (*reload.Content, error) { return &reload.Content{Revision: "7"}, nil }), `reload_test.sourceFunc: revision "7": fetch: the Source returned content without a Body`, again},
		"a cache that cannot be made":             {reload.Cache(given("7", -1, "content"), in("no directory", "")), "given: fetch: mkdir DIR/no directory: not a directory; the cache in DIR/no directory: open DIR/no directory/kept.json: not a directory", again},
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

// textOf returns the text of an error without the stack of a panic.
func textOf(err error) string {
	if err == nil {
		return ""
	}
	var panicked *reload.PanicError
	if errors.As(err, &panicked) {
		return strings.Replace(err.Error(), "\n"+string(panicked.Stack), "", 1)
	}
	return err.Error()
}

func TestNewPanicsForWhatCannotWork(t *testing.T) {
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
	const negative = "reload: New with a negative Every, MaxBackoff, ObjectWait or MaxBytes"
	for _, options := range []reload.Options{{Every: -1}, {MaxBackoff: -1}, {ObjectWait: -1}, {MaxBytes: -1}} {
		pooltest.WantPanic(t, negative, func() { reload.New(c, source, load, options) })
	}
	r := reload.New(c, source, load, reload.Options{})
	var none context.Context
	pooltest.WantPanic(t, "reload: Reload with a nil Context", func() { r.Reload(none) })
	pooltest.WantPanic(t, "reload: Run with a nil Context", func() { r.Run(none) })
}
