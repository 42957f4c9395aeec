package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/poolswap/poolswap/oplog/lthash"
	"github.com/poolswap/poolswap/reload"
	"github.com/poolswap/poolswap/reload/reloadtest"
)

const tableText = `network,asn,name
10.0.0.0/24,64496,"Example, Inc."
10.0.1.0/24,64497,"The ""Net"""
10.0.3.0/24,64498,
2001:db8::/48,64499,Beispiel
`

// replicaOf starts a replica of a source, until the test ends. observed gets each attempt.
func replicaOf(t *testing.T, source reload.Source) (url string, observed chan reload.Event) {
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
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("serve returned %v", err)
		}
	})
	return "http://" + listener.Addr().String(), observed
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
	url, observed := replicaOf(t, origin)
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
	const answer = `{"revision":"REVISION","version":2,"answers":[{"ip":"10.0.0.255","asn":64496,"name":"Example, Inc."},{"ip":"192.0.2.1","asn":0,"name":""},{"ip":"2001:db8::1","asn":64499,"name":"Beispiel"}]}`
	want := strings.Replace(answer, "REVISION", first.Revision, 1) + "\n"
	if status, body := get(t, url+"/lookup?ip=10.0.0.255&ip=::ffff:192.0.2.1&ip=2001:db8::1"); status != http.StatusOK || body != want {
		t.Errorf("/lookup: %d, %s, want %s", status, body, want)
	}
	for _, query := range []string{"", "?ip=", "?ip=x", "?ip=10.0.0.1&ip=10.0.0.256"} {
		if status, _ := get(t, url+"/lookup"+query); status != http.StatusBadRequest {
			t.Errorf("/lookup%s: %d", query, status)
		}
	}

	origin.Push([]byte("network,asn,name\n10.0.0.0/24,64496,One\n")) // of four rows
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
	if _, body := get(t, url+"/lookup?ip=2001:db8::"); json.Unmarshal([]byte(body), &r) != nil || r.Revision != second.Revision || r.Version != 3 || r.Answers[0].Name != "Ejemplo" {
		t.Errorf("the next table: %+v", r)
	}
}

// loaded applies content to a table.
func loaded(t *table, base, text string) error {
	for c, err := range decode(context.Background(), &reload.Content{Revision: "one", Base: base, Body: io.NopCloser(strings.NewReader(text))}) {
		if err == nil {
			err = t.apply(c)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func TestLookup(t *testing.T) {
	const delta = "op,network,asn,name\nset,2001:db8::/48,64499,Ejemplo\ndelete,10.0.3.0/24,,\n"
	served := new(table)
	for _, step := range []struct{ base, text, changed, deleted string }{
		{"", tableText, "Beispiel 64499", " 64498"},
		{"zero", delta, "Ejemplo 64499", " 0"},
	} {
		if err := loaded(served, step.base, step.text); err != nil {
			t.Fatal(err)
		}
		var rows lthash.Hash
		for ip, want := range map[string]string{
			"2001:db8:0:1::1": step.changed, "10.0.3.7": step.deleted, "10.0.0.0": "Example, Inc. 64496", "10.0.1.255": `The "Net" 64497`,
			"9.255.255.255": " 0", "10.0.2.0": " 0", "::": " 0", "2001:db8:1::": " 0",
		} {
			asn, name := served.lookup(netip.MustParseAddr(ip))
			if got := fmt.Sprint(name, " ", asn); got != want {
				t.Errorf("%s: %q, want %q", ip, got, want)
			}
			if asn != 0 {
				rows.Add(lthash.AppendRow(nil, networkOf(netip.MustParseAddr(ip)).String(), fmt.Sprint(asn), name))
			}
		}
		if served.digest() != rows.Sum() || served.revision != "one" {
			t.Errorf("revision %q has the digest of other rows", served.revision)
		}
	}
}

func TestWhatIsNoTableIsRefused(t *testing.T) {
	const header = "network,asn,name\n"
	for text, want := range map[string]string{
		"": "EOF",
		"<html><body>502 Bad Gateway</body></html>": "the header is",
		"op," + header:                                 "the header is",
		header + "10.0.0.0/24,1\n":                     "wrong number of fields",
		header + "10.0.0.0/24,1,\"a\n":                 "parse error",
		header + "10.0.0.0,1,a\n":                      "line 2: netip.ParsePrefix",
		header + "10.0.0.0/16,1,a\n":                   "line 2: 10.0.0.0/16 is no /24",
		header + "10.0.0.1/24,1,a\n":                   "line 2: 10.0.0.1/24 is no /24",
		header + "2001:DB8::/48,1,a\n":                 "line 2: 2001:DB8::/48 is no",
		header + "10.0.0.0/24,-1,a\n":                  "line 2: strconv.ParseUint",
		"delta:op," + header + "add,10.0.0.0/24,1,a\n": `line 2: the op is "add"`,
	} {
		text, delta := strings.CutPrefix(text, "delta:")
		base := ""
		if delta {
			base = "zero"
		}
		if err := loaded(new(table), base, text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
	if err := check(1)(new(table), new(table), nil); err == nil {
		t.Error("an empty table is taken")
	}
}
