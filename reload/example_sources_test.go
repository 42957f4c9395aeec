package reload_test

import (
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/poolswap/poolswap/reload"
	"github.com/poolswap/poolswap/reload/reloadtest"
)

// A program that writes the table pauses in the middle of it: the file is read when
// nothing has changed for a second.
func ExampleFileWithOptions() {
	name := tempFile("a.example\n")
	defer remove(name)
	source := reload.FileWithOptions(name, reload.FileOptions{Rest: time.Second})
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
	defer cancel()
	_, err := source.Fetch(ctx, "")
	fmt.Println(err)
	// Output: context deadline exceeded
}

// jsonFields returns some fields of a JSON object.
func jsonFields(r io.Reader, names ...string) map[string]any {
	all, some := map[string]any{}, map[string]any{}
	if err := json.NewDecoder(r).Decode(&all); err != nil {
		panic(err)
	}
	for _, name := range names {
		some[name] = all[name]
	}
	return some
}

// origin serves content with an ETag, to requests with the right key and token.
func origin(content *string) *httptest.Server {
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("licence_key") != "4711-0815" || r.Header.Get("Authorization") != "Bearer s3cret" {
			http.Error(w, "no such licence", http.StatusForbidden)
			return
		}
		w.Header().Set("ETag", fmt.Sprintf(`"%x"`, sha256.Sum256([]byte(*content))))
		http.ServeContent(w, r, "", time.Time{}, strings.NewReader(*content))
	}))
}

func database(address, token string) reload.Source {
	return reload.HTTP(address, reload.HTTPOptions{
		Prepare: func(request *http.Request) error {
			request.Header.Set("Authorization", "Bearer "+token)
			return nil
		},
	})
}

// A licence key in the query and a token in a header show nowhere.
func ExampleHTTP() {
	ctx := context.Background()
	content := "a.example\n"
	server := origin(&content)
	defer server.Close()
	withKey := server.URL + "/db?licence_key=4711-0815"

	tables := newTables()
	reloader := reload.New(tables, database(withKey, "s3cret"), loadTable, reload.Options{Observe: func(e reload.Event) { fmt.Println(e.Outcome) }})
	_ = reloader.Reload(ctx)
	_ = reloader.Reload(ctx) // not transferred again
	show(tables)

	err := reload.New(newTables(), database(withKey, "other"), loadTable, reload.Options{}).Reload(ctx)
	fmt.Println(strings.ReplaceAll(err.Error(), server.URL, "https://db.example"))
	// Output:
	// loaded
	// not modified
	// [a.example]
	// reload: https://db.example/db: fetch: status 403 Forbidden, "no such licence\n" (nothing is loaded yet; it is tried again)
}

// A server that sends nothing for a second is given up.
func ExampleHTTPOptions() {
	silent := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	defer silent.Close()
	source := reload.HTTP(silent.URL, reload.HTTPOptions{
		HeaderTimeout: 20 * time.Millisecond, // until the header
		StallTimeout:  time.Second,           // without a byte of the body
	})
	_, err := source.Fetch(context.Background(), "")
	fmt.Println(err)
	// Output: no response within 20ms
}

// A server that knows long polls answers once it has something newer, and the Reloader
// asks at once.
func ExampleHTTPOptions_wait() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Println(r.Header.Get("If-None-Match"), r.Header.Get("Prefer")) // and waits
		w.Header().Set("ETag", `"2"`)
	}))
	defer server.Close()
	source := reload.HTTP(server.URL, reload.HTTPOptions{Wait: 50 * time.Second})
	fmt.Println(source.(reload.Waiter).Wait(context.Background(), `etag "1"`))
	// Output:
	// "1" wait=50
	// <nil>
}

// busy is a server that asks to be left alone for two minutes.
func busy() *httptest.Server {
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "120")
		http.Error(w, "try later", http.StatusServiceUnavailable)
	}))
}

func ExampleHTTPError() {
	server := busy()
	defer server.Close()
	reloader := reload.New(newTables(), reload.HTTP(server.URL, reload.HTTPOptions{}), loadTable, reload.Options{})
	var failure *reload.HTTPError
	if errors.As(reloader.Reload(context.Background()), &failure) {
		fmt.Println(failure.Status, failure.After)
	}
	// Output: 503 2m0s
}

func ExampleHTTPError_Error() {
	fmt.Println(&reload.HTTPError{Status: http.StatusForbidden, Body: "licence expired"})
	// Output: status 403 Forbidden, "licence expired"
}

// Run waits at least that long.
func ExampleHTTPError_RetryAfter() {
	server := busy()
	defer server.Close()
	_, err := reload.HTTP(server.URL, reload.HTTPOptions{}).Fetch(context.Background(), "")
	var failure *reload.HTTPError
	fmt.Println(errors.As(err, &failure) && failure.RetryAfter() == 2*time.Minute)
	// Output: true
}

func cached(address, token, dir string) reload.Source {
	return reload.Cache(database(address, token), dir)
}

// A service that starts while the origin is down answers from the kept content.
func ExampleCache() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "cache")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	content := "a.example\n"
	server := origin(&content)
	source := func() reload.Source { return cached(server.URL+"/db?licence_key=4711-0815", "s3cret", dir) }
	fmt.Println(reload.New(newTables(), source(), loadTable, reload.Options{}).Reload(ctx))
	server.Close()

	tables := newTables() // of the next process
	reloader := reload.New(tables, source(), loadTable, reload.Options{})
	fmt.Println(reloader.Reload(ctx))
	show(tables)
	fmt.Println("stale:", reloader.Status().Stale != nil)
	// Output:
	// <nil>
	// <nil>
	// [a.example]
	// stale: true
}

func checked(dir string) reload.Source {
	return reload.VerifySHA256(reload.File(dir+"/table.txt"), reload.File(dir+"/table.txt.sha256"))
}

// Content that does not fit its checksum is not published.
func ExampleVerifySHA256() {
	content, sums := new(reloadtest.Fake), new(reloadtest.Fake)
	tables := newTables()
	reloader := reload.New(tables, reload.VerifySHA256(content, sums), loadTable, reload.Options{})
	good := []byte("a.example\n")
	content.Push(good)
	sums.Push(fmt.Appendf(nil, "%x  table.txt\n", sha256.Sum256(good)))
	fmt.Println(reloader.Reload(context.Background()))

	content.Push([]byte("evil.example\n"))
	fmt.Println(reloader.Reload(context.Background()) != nil)
	show(tables)
	// Output:
	// <nil>
	// true
	// [a.example]
}

// Who makes the table signs its SHA-256; services have the public key.
func ExampleVerifyEd25519() {
	content, signatures := new(reloadtest.Fake), new(reloadtest.Fake)
	private := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize)) // a real key has a secret seed
	public := private.Public().(ed25519.PublicKey)
	table := []byte("a.example\n")
	sum := sha256.Sum256(table)
	content.Push(table)
	signatures.Push([]byte(base64.StdEncoding.EncodeToString(ed25519.Sign(private, sum[:]))))

	tables := newTables()
	reloader := reload.New(tables, reload.VerifyEd25519(content, signatures, public), loadTable, reload.Options{})
	fmt.Println(reloader.Reload(context.Background()))
	content.Push([]byte("evil.example\n"))
	fmt.Println(reloader.Reload(context.Background()))
	show(tables)
	// Output:
	// <nil>
	// reload: fake: revision "2 | ee842e7cf24e5a5a": verify: the signature in fake is of other content, or by none of the keys (version 1 stays; it is tried again)
	// [a.example]
}

// A signed Statement binds content to its name: an allow list does not pass as a
// deny list.
func ExampleVerifySigned() {
	content, signatures := new(reloadtest.Fake), new(reloadtest.Fake)
	private := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize)) // a real key has a secret seed
	public := private.Public().(ed25519.PublicKey)
	allow := []byte("a.example\n")
	content.Push(allow)
	signatures.Push([]byte(base64.StdEncoding.EncodeToString(
		ed25519.Sign(private, reload.Statement("allow", sha256.Sum256(allow))))))

	for _, name := range []string{"allow", "deny"} {
		source := reload.VerifySigned(content, signatures, name, public)
		fmt.Println(reload.New(newTables(), source, loadTable, reload.Options{}).Reload(context.Background()))
	}
	// Output:
	// <nil>
	// reload: fake: revision "1 | b8439d974271a253": verify: the signature in fake is of other content, or by none of the keys (nothing is loaded yet; it is tried again)
}

// A program can look at the content of a Cache without asking the origin.
func ExampleRestorer() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "kept")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	source := new(reloadtest.Fake)
	source.Push([]byte("a.example"))
	_ = reload.New(newTables(), reload.Cache(source, dir), loadTable, reload.Options{}).Reload(ctx)

	restorer := reload.Cache(source, dir).(reload.Restorer) // in the next process
	content, checked, err := restorer.Restore(ctx)
	if err != nil || content == nil {
		fmt.Println(err)
		return
	}
	defer content.Body.Close()
	fmt.Println(content.Revision, content.Size, time.Since(checked) < time.Hour)
	// Output: 1 9 true
}

func accounts(dir string) reload.Source {
	return reload.Join(reload.File(dir+"/users.txt"), reload.File(dir+"/roles.txt"))
}

// loadRelease refuses files whose first lines do not name the same release.
func loadRelease(_ context.Context, next, _ *Table, content *reload.Content) error {
	var releases []string
	for _, part := range content.Parts {
		first := len(next.rows)
		if err := next.parse(part.Body); err != nil {
			return err
		}
		if first == len(next.rows) {
			return fmt.Errorf("%s is empty", part.Source)
		}
		releases = append(releases, next.rows[first])
	}
	if releases[0] != releases[1] {
		return fmt.Errorf("users of %q and roles of %q", releases[0], releases[1])
	}
	return nil
}

// Two files are loaded into one object, so no reader sees one without the other,
// nor files of two releases.
func ExampleJoin() {
	ctx := context.Background()
	users := tempFile("")
	dir := filepath.Dir(users)
	defer remove(users)
	put := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			panic(err)
		}
	}
	tables := newTables()
	reloader := reload.New(tables, accounts(dir), loadRelease, reload.Options{Logger: slog.New(slog.DiscardHandler)})
	put("users.txt", "release 1\nann\n")
	put("roles.txt", "release 1\nadmin\n")
	fmt.Println(reloader.Reload(ctx))
	show(tables)
	put("users.txt", "release 2\nbob\n")
	err := reloader.Reload(ctx)
	fmt.Println(strings.Contains(err.Error(), `users of "release 2" and roles of "release 1"`), reloader.Status().State())
	show(tables)
	put("roles.txt", "release 2\nguest\n")
	fmt.Println(reloader.Reload(ctx))
	show(tables)
	// Output:
	// <nil>
	// [release 1 ann release 1 admin]
	// true refused
	// [release 1 ann release 1 admin]
	// <nil>
	// [release 2 bob release 2 guest]
}

// List is a Source of one's own: its content comes some other way, such as over a
// message queue.
type List struct {
	mu      sync.Mutex
	number  int // of the newest, its revision
	text    string
	changed chan struct{} // closed by the next Set
}

func NewList() *List { return &List{changed: make(chan struct{})} }

func (l *List) Set(text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.number++
	l.text = text
	close(l.changed)
	l.changed = make(chan struct{})
}

func (l *List) newest() (revision, text string, changed <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strconv.Itoa(l.number), l.text, l.changed
}

func (l *List) Fetch(_ context.Context, have string) (*reload.Content, error) {
	revision, text, _ := l.newest()
	if revision == have {
		return nil, reload.ErrNotModified
	}
	return &reload.Content{Revision: revision, Size: int64(len(text)), Body: io.NopCloser(strings.NewReader(text))}, nil
}

func (l *List) Wait(ctx context.Context, have string) error {
	revision, _, changed := l.newest()
	if revision != have {
		return nil
	}
	select {
	case <-changed:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func ExampleSource() {
	list := NewList()
	tables := newTables()
	reloader := reload.New(tables, list, loadTable, reload.Options{})
	list.Set("a.example")
	fmt.Println(reloader.Reload(context.Background()))
	show(tables)
	// Output:
	// <nil>
	// [a.example]
}

// A Source that is a Waiter is asked when it changes, long before Every is over.
func ExampleWaiter() {
	ctx, cancel := context.WithCancel(context.Background())
	list := NewList()
	list.Set("a.example")
	tables := newTables()
	reloader := reload.New(tables, list, loadTable, reload.Options{Every: time.Hour})
	ended := make(chan error)
	go func() { ended <- reloader.Run(ctx) }()
	version, _ := tables.Wait(ctx, 0)
	list.Set("b.example")
	_, _ = tables.Wait(ctx, version)
	show(tables)
	cancel()
	<-ended
	// Output: [b.example]
}

// A path or a URL comes from a flag.
func ExampleOpen() {
	for _, name := range []string{"table.txt", "https://host/table.txt?licence_key=4711-0815", "ftp://host/table.txt"} {
		fmt.Println(reload.Open(name))
	}
	// Output:
	// table.txt <nil>
	// https://host/table.txt <nil>
	// <nil> reload: Open of a URL with the scheme ftp: only http, https and file are known
}
