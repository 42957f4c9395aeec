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
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"time"

	"github.com/poolswap/poolswap/reload"
	"github.com/poolswap/poolswap/reload/reloadtest"
)

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

// A service that starts while the origin is down answers from what it kept.
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
	return reload.WithSHA256(reload.File(dir+"/table.txt"), reload.File(dir+"/table.txt.sha256"))
}

// Content that does not fit its checksum is not published.
func ExampleWithSHA256() {
	content, sums := new(reloadtest.Fake), new(reloadtest.Fake)
	tables := newTables()
	reloader := reload.New(tables, reload.WithSHA256(content, sums), loadTable, reload.Options{})
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
func ExampleWithEd25519() {
	content, signatures := new(reloadtest.Fake), new(reloadtest.Fake)
	private := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize)) // a real key has a secret seed
	public := private.Public().(ed25519.PublicKey)
	table := []byte("a.example\n")
	sum := sha256.Sum256(table)
	content.Push(table)
	signatures.Push([]byte(base64.StdEncoding.EncodeToString(ed25519.Sign(private, sum[:]))))

	tables := newTables()
	reloader := reload.New(tables, reload.WithEd25519(content, signatures, public), loadTable, reload.Options{})
	fmt.Println(reloader.Reload(context.Background()))
	content.Push([]byte("evil.example\n"))
	fmt.Println(reloader.Reload(context.Background()))
	show(tables)
	// Output:
	// <nil>
	// reload: fake: revision "2 | ee842e7cf24e5a5a": verify: the signature in fake is by none of the keys (version 1 stays; it is tried again)
	// [a.example]
}

// A program can look at what a Cache kept without asking the origin.
func ExampleKeeper() {
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

	keeper := reload.Cache(source, dir).(reload.Keeper) // in the next process
	content, checked, err := keeper.Kept(ctx)
	if err != nil || content == nil {
		fmt.Println(err)
		return
	}
	defer content.Body.Close()
	fmt.Println(content.Revision, content.Size, time.Since(checked) < time.Hour)
	// Output: 1 9 true
}
