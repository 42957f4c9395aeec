package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/poolswap/poolswap/reload"
	"github.com/poolswap/poolswap/reload/reloadtest"
)

const tableText = `10.0.0.0,10.0.0.255,64496,"Example, Inc."
10.0.1.0,10.0.1.199,64497,"The ""Net"""
10.0.1.100,10.0.1.150,64498,Inside
2001:db8::,2001:db8::ffff,64499,Beispiel
`

// replicaOf starts a replica of a source, until the test ends or stop is called.
// observed gets each attempt.
func replicaOf(t *testing.T, source reload.Source) (url string, observed chan reload.Event, stop func()) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	observed = make(chan reload.Event, 100)
	go func() {
		ended <- serve(ctx, listener, source, 0.5, reload.Options{Every: time.Hour, Logger: slog.New(slog.DiscardHandler), Observe: func(e reload.Event) { observed <- e }})
	}()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("serve returned %v", err)
		}
	})
	t.Cleanup(stop)
	return "http://" + listener.Addr().String(), observed, stop
}

func get(t *testing.T, url string) (status int, body string) {
	t.Helper()
	r, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return r.StatusCode, string(text)
}

// awaitOutcome waits for an attempt that ends like that.
func awaitOutcome(t *testing.T, observed chan reload.Event, want reload.Outcome) reload.Event {
	t.Helper()
	for {
		select {
		case e := <-observed:
			if e.Outcome == want {
				return e
			}
		case <-time.After(time.Minute):
			t.Fatalf("no attempt ends %s", want)
		}
	}
}

func TestAReplicaServesWhatIsPublished(t *testing.T) {
	origin := new(reloadtest.Fake)
	url, observed, stop := replicaOf(t, origin)
	awaitOutcome(t, observed, reload.Failed)
	for _, path := range []string{"/ready", "/lookup?ip=10.0.0.1"} {
		if status, _ := get(t, url+path); status != http.StatusServiceUnavailable {
			t.Errorf("%s without a table: %d", path, status)
		}
	}

	origin.Push([]byte(tableText))
	first := awaitOutcome(t, observed, reload.Loaded)
	if status, body := get(t, url+"/ready"); status != http.StatusOK || body != "ready\n" {
		t.Errorf("/ready: %d, %q", status, body)
	}
	const answer = `{"revision":"REVISION","version":1,"answers":[{"ip":"10.0.0.255","asn":64496,"name":"Example, Inc."},{"ip":"192.0.2.1","asn":0,"name":""},{"ip":"2001:db8::1","asn":64499,"name":"Beispiel"}]}`
	want := strings.Replace(answer, "REVISION", first.Revision, 1) + "\n"
	if status, body := get(t, url+"/lookup?ip=10.0.0.255&ip=::ffff:192.0.2.1&ip=2001:db8::1"); status != http.StatusOK || body != want {
		t.Errorf("/lookup: %d, %s, want %s", status, body, want)
	}
	for _, query := range []string{"", "?ip=", "?ip=x", "?ip=10.0.0.1&ip=10.0.0.256"} {
		if status, _ := get(t, url+"/lookup"+query); status != http.StatusBadRequest {
			t.Errorf("/lookup%s: %d", query, status)
		}
	}

	origin.Push([]byte("10.0.0.0,10.0.0.255,64496,One\n")) // of four rows
	awaitOutcome(t, observed, reload.Failed)
	if _, body := get(t, url+"/lookup?ip=10.0.0.255&ip=::ffff:192.0.2.1&ip=2001:db8::1"); body != want {
		t.Errorf("after a refusal: %s, want %s", body, want)
	}
	if _, body := get(t, url+"/status?format=json"); !json.Valid([]byte(body)) || !strings.Contains(body, `"state": "refused"`) {
		t.Errorf("/status: %s", body)
	}

	origin.Push([]byte(strings.ReplaceAll(tableText, "Beispiel", "Ejemplo")))
	second := awaitOutcome(t, observed, reload.Loaded)
	var r response
	if _, body := get(t, url+"/lookup?ip=2001:db8::"); json.Unmarshal([]byte(body), &r) != nil || r.Revision != second.Revision || r.Version != 2 || r.Answers[0].Name != "Ejemplo" {
		t.Errorf("the next table: %+v", r)
	}
	stop()
}

func TestLookup(t *testing.T) {
	loaded := new(table)
	content := &reload.Content{Revision: "one", Body: io.NopCloser(strings.NewReader(tableText))}
	if err := loader(0.1)(t.Context(), loaded, nil, content); err != nil {
		t.Fatal(err)
	}
	for ip, want := range map[string]string{
		"9.255.255.255": "", "10.0.0.0": "Example, Inc.", "10.0.0.255": "Example, Inc.", "10.0.1.0": `The "Net"`, "10.0.1.99": `The "Net"`,
		"10.0.1.100": "Inside", "10.0.1.150": "Inside", "10.0.1.151": "", "10.0.2.0": "", "::": "", "2001:db8::ffff": "Beispiel", "2001:db8::1:0": "",
	} {
		if _, name := loaded.lookup(netip.MustParseAddr(ip)); string(name) != want {
			t.Errorf("%s: %q, want %q", ip, name, want)
		}
	}
	if loaded.reset(); loaded.revision != "" || len(loaded.rows)+len(loaded.names) > 0 || cap(loaded.rows) < 4 {
		t.Errorf("after reset: %+v", loaded)
	}
}

func TestWhatIsNoTableIsRefused(t *testing.T) {
	for text, want := range map[string]string{
		"":                                          "the table is empty",
		"10.0.0.0,10.0.0.1,1\n":                     "wrong number of fields",
		"10.0.0.0,10.0.0.1,1,a,b\n":                 "wrong number of fields",
		"10.0.0.0,10.0.0.1,1,\"a\n":                 "parse error",
		"10.0.0,10.0.0.1,1,a\n":                     "line 1: ParseAddr",
		"10.0.0.0,x,1,a\n":                          "line 1: ParseAddr",
		"10.0.0.0,10.0.0.1,-1,a\n":                  "line 1: strconv.ParseUint",
		"10.0.0.1,10.0.0.0,1,a\n":                   "line 1: 10.0.0.1 - 10.0.0.0 is no range",
		tableText + "10.0.0.0,10.0.0.1,1,a\n":       "line 5: 10.0.0.0 - 10.0.0.1 is no range, or does not ascend",
		"<html><body>502 Bad Gateway</body></html>": "wrong number of fields",
	} {
		content := &reload.Content{Revision: "one", Body: io.NopCloser(strings.NewReader(text))}
		if err := loader(0.1)(t.Context(), new(table), nil, content); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

func TestAListenerThatFailsEndsServe(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	listener.Close()
	if err := serve(t.Context(), listener, new(reloadtest.Fake), 0.1, reload.Options{Logger: slog.New(slog.DiscardHandler)}); !errors.Is(err, net.ErrClosed) {
		t.Errorf("serve returned %v", err)
	}
}
