package main

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/poolswap/poolswap/reload"
	"github.com/poolswap/poolswap/reload/reloadtest"
)

// origin serves a list with an ETag.
type origin struct {
	mu   sync.Mutex
	text string
}

func (o *origin) set(text string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.text = text
}

func (o *origin) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	o.mu.Lock()
	defer o.mu.Unlock()
	w.Header().Set("ETag", fmt.Sprintf(`"%x"`, sha256.Sum256([]byte(o.text))))
	http.ServeContent(w, r, "", time.Time{}, strings.NewReader(o.text))
}

// start serves until the test ends or stop is called, which returns the error of serve.
func start(t *testing.T, url, dir string) (address string, stop func() error) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- serve(ctx, listener, reload.Cache(reload.HTTP(url, reload.HTTPOptions{}), dir), 10*time.Millisecond)
	}()
	stop = sync.OnceValue(func() error {
		cancel()
		return <-ended
	})
	t.Cleanup(func() { stop() })
	return "http://" + listener.Addr().String(), stop
}

func get(t *testing.T, url string) (status int, body string) {
	t.Helper()
	response, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(text)
}

// await asks until the answer is the one that is wanted.
func await(t *testing.T, url, want string) {
	t.Helper()
	awaitBody(t, url, func(body string) bool { return body == want })
}

// awaitStatus asks until a field of the status is right.
func awaitStatus(t *testing.T, address, field string, right func(any) bool) {
	t.Helper()
	awaitBody(t, address+"/status?format=json", func(body string) bool {
		var all map[string]any
		if err := json.Unmarshal([]byte(body), &all); err != nil {
			t.Fatal(err)
		}
		return right(all[field])
	})
}

func awaitBody(t *testing.T, url string, right func(string) bool) {
	t.Helper()
	var body string
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if _, body = get(t, url); right(body) {
			return
		}
	}
	t.Fatalf("%s goes on answering %q", url, body)
}

func is(want any) func(any) bool { return func(got any) bool { return got == want } }

func TestListIsServedReplacedAndKept(t *testing.T) {
	o := &origin{text: "# ads\nads.example # the worst\n\ntracker.test\n"}
	server := httptest.NewServer(o)
	defer server.Close()
	dir := t.TempDir()
	address, stop := start(t, server.URL, dir)
	for domain, denied := range map[string]bool{"ads.example": true, "x.ads.example": true, "X.ADS.example": true, "example": false, "bads.example": false, "tracker.test": true, "": false, "ads.example.org": false, "%23": false} {
		await(t, address+"/check?domain="+domain, fmt.Sprintf("{\"denied\":%t,\"version\":1}\n", denied))
	}

	o.set("new.example\n")
	await(t, address+"/check?domain=new.example", "{\"denied\":true,\"version\":2}\n")
	for _, bad := range []string{"<html>Log in first</html>\n", "Forbidden by policy\n", "# nothing\n"} {
		o.set(bad)
		awaitStatus(t, address, "state", is("refused"))
		await(t, address+"/check?domain=new.example", "{\"denied\":true,\"version\":2}\n")
		o.set("new.example\n")
		awaitStatus(t, address, "state", is("fresh"))
	}
	if status, body := get(t, address+"/status"); status != http.StatusOK || !strings.Contains(body, "<!doctype html>") {
		t.Errorf("/status: %d, %.40q", status, body)
	}
	if err := stop(); err != nil {
		t.Errorf("serve returned %v", err)
	}

	server.Close() // the next process starts while the origin is down
	address, _ = start(t, server.URL, dir)
	await(t, address+"/check?domain=new.example", "{\"denied\":true,\"version\":1}\n")
}

func TestFailedListenerEndsServe(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	listener.Close()
	if err := serve(t.Context(), listener, new(reloadtest.Fake), time.Minute); !errors.Is(err, net.ErrClosed) {
		t.Errorf("serve returned %v", err)
	}
}

func TestNoListIs503(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	address, stop := start(t, server.URL, t.TempDir())
	if status, body := get(t, address+"/check?domain=a.example"); status != http.StatusServiceUnavailable || body != "no list is loaded\n" {
		t.Errorf("%d, %q", status, body)
	}
	if err := stop(); err != nil {
		t.Errorf("serve returned %v", err)
	}
}
