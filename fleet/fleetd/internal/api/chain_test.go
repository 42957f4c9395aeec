package api_test

import (
	"bufio"
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/poolswap/poolswap/fleet"
	"github.com/poolswap/poolswap/oplog"
	"github.com/poolswap/poolswap/reload"
)

func TestDeltasAreChained(t *testing.T) {
	s := newServer(t)
	admin := s.token(fleet.AdminRole, "*", "")
	revisions := "/v1/names/asn/revisions"
	store := func(id, base, text string) answer {
		query := "?id=" + id
		if base != "" {
			query += "&base=" + base
		}
		return s.do(admin, "POST", revisions+query, text)
	}
	whole := strings.Repeat("0123456789", 10)
	for _, one := range []struct {
		id, base, text string
		status         int
		code           string
	}{
		{"r0", "", whole, 201, ""},
		{"r1", "r0", "0123456789", 201, ""},
		{"r1", "r0", "0123456789", 201, ""}, // again
		{"r1", "", "0123456789", 409, "refused"},
		{"r2", "r1", "0123456789", 201, ""},
		{"r3", "r2", "012345", 409, "snapshot"}, // 26 of 100 bytes
		{"r3", "r2", "01234", 201, ""},
		{"r4", "r3", "0", 409, "snapshot"},
		{"b4", "r1", "0123456789", 201, ""}, // a branch
		{"x", "none", "0", 400, "bad_request"},
		{"x", "x", "0", 400, "bad_request"},
		{"x", "%20%0a", "0", 400, "bad_request"},
		{"r4", "", whole, 201, ""},
	} {
		a := store(one.id, one.base, one.text)
		code := ""
		if a.status >= 400 {
			code = decode[struct{ Code string }](t, a).Code
		} else if r := decode[fleet.Revision](t, a); r.ID != one.id || r.Base != one.base {
			t.Errorf("stored is %+v", r)
		}
		if a.status != one.status || code != one.code {
			t.Errorf("%q on %q: %d %q, want %d %q: %s", one.id, one.base, a.status, code, one.status, one.code, a.text)
		}
	}
	replica := s.token(fleet.ReplicaRole, "asn", "r*")
	for path, want := range map[string]string{
		"r0/chain":          "[r0]",
		"r3/chain":          "[r0 r1 r2 r3]",
		"r3/chain?from=r0":  "[r1 r2 r3]",
		"r3/chain?from=r2":  "[r3]",
		"r3/chain?from=b4":  "[r0 r1 r2 r3]",
		"r3/chain?from=r3":  "[r0 r1 r2 r3]",
		"r3/chain?from=old": "[r0 r1 r2 r3]",
		"b4/chain?from=r1":  "[b4]",
		"r4/chain?from=r3":  "[r4]",
	} {
		a := s.want(200, "", replica, "GET", revisions+"/"+path, "")
		var ids []string
		for _, r := range decode[struct{ Revisions []fleet.Revision }](t, a).Revisions {
			ids = append(ids, r.ID)
		}
		if got := fmt.Sprint(ids); got != want {
			t.Errorf("%s is %s, want %s", path, got, want)
		}
	}
	s.want(404, "not_found", replica, "GET", revisions+"/x/chain", "")

	if a := store("e", "r3", ""); a.status != 201 {
		t.Errorf("an empty delta: %d %s", a.status, a.text)
	}
	for _, c := range []struct {
		path, header string
		status       int
		text         string
	}{
		{"r3/deltas?from=r0", "", 200, "0123456789" + "0123456789" + "01234"},
		{"r3/deltas?from=r1", "", 200, "0123456789" + "01234"},
		{"r3/deltas?from=r2", "", 200, "01234"},
		{"r3/deltas?from=r0", "bytes=9-", 206, "9" + "0123456789" + "01234"},
		{"r3/deltas?from=r0", "bytes=10-20", 206, "0123456789" + "0"},
		{"r3/deltas?from=r0", "bytes=24-", 206, "4"},
		{"r3/deltas?from=r0", "bytes=25-", 416, ""},
		{"r3/deltas?from=r0", "bytes=0-0,2-3", 200, "0123456789" + "0123456789" + "01234"},
		{"e/deltas?from=r3", "", 200, ""},
		{"r3/deltas?from=r3", "", 400, ""},
		{"r3/deltas?from=b4", "", 400, ""},
		{"r3/deltas", "", 400, ""},
		{"r0/deltas", "", 400, ""},
		{"x/deltas?from=r0", "", 404, ""},
	} {
		var header []string
		if c.header != "" {
			header = []string{"Range", c.header}
		}
		if a := s.do(replica, "GET", revisions+"/"+c.path, "", header...); a.status != c.status || a.status < 300 && a.text != c.text {
			t.Errorf("%s, %s: %d %q, want %d %q", c.path, c.header, a.status, a.text, c.status, c.text)
		}
	}
}

// rows is the object of a service that follows deltas.
type rows = oplog.View[string, string]

// decodeRows yields a row for each line "key value", and a deletion for "key".
func decodeRows(_ context.Context, content *reload.Content) iter.Seq2[oplog.Change[string, string], error] {
	return func(yield func(oplog.Change[string, string], error) bool) {
		for lines := bufio.NewScanner(content.Body); lines.Scan(); {
			key, value, _ := strings.Cut(lines.Text(), " ")
			if !yield(oplog.Change[string, string]{Key: key, Value: value, Delete: value == ""}, nil) {
				return
			}
		}
	}
}

// followingService is a replica with a log.
type followingService struct {
	table    *oplog.Map[string, string]
	source   *fleet.Source
	reloader *reload.Reloader
}

func (s *server) following(id, dir string, keys ...ed25519.PublicKey) *followingService {
	s.t.Helper()
	client, err := fleet.NewClient(s.url, fleet.ClientOptions{Token: s.token(fleet.ReplicaRole, "asn", "*")})
	if err != nil {
		s.t.Fatal(err)
	}
	source, err := fleet.NewSource(client, "asn", fleet.SourceOptions{ID: id, Keys: keys})
	if err != nil {
		s.t.Fatal(err)
	}
	table, err := oplog.NewMap(oplog.MapOptions[string, string]{})
	if err != nil {
		s.t.Fatal(err)
	}
	options := reload.Options{Observe: source.Observe, Logger: slog.New(slog.DiscardHandler)}
	return &followingService{table, source, reload.NewLog(table.Log(), reload.Cache(source, dir), decodeRows, reload.LogOptions[rows]{Options: options})}
}

// text returns the rows, sorted.
func (f *followingService) text() string {
	view := f.table.Container().Acquire()
	defer f.table.Container().Release(view)
	return textOf(maps.Collect(view.All()))
}

func textOf(rows map[string]string) string {
	var b strings.Builder
	for _, key := range slices.Sorted(maps.Keys(rows)) {
		fmt.Fprintf(&b, "%s %s\n", key, rows[key])
	}
	return b.String()
}

// TestDeltasAreCounted in the metrics.
func TestDeltasAreCounted(t *testing.T) {
	s := newServer(t)
	client, err := fleet.NewClient(s.url, fleet.ClientOptions{Token: s.token(fleet.OperatorRole, "asn", "")})
	if err != nil {
		t.Fatal(err)
	}
	publisher, err := fleet.NewPublisher(client, "asn", fleet.PublisherOptions{New: true})
	if err != nil {
		t.Fatal(err)
	}
	replica := s.following("r0", t.TempDir())
	first, _, err := publisher.Publish(t.Context(), strings.NewReader(strings.Repeat("a 1\n", 50)), "")
	if err := errors.Join(err, replica.reloader.Reload(t.Context())); err != nil {
		t.Fatal(err)
	}
	_, _, err = publisher.PublishDelta(t.Context(), first.ID, strings.NewReader("b 2\n"), "")
	if err := errors.Join(err, replica.reloader.Reload(t.Context())); err != nil {
		t.Fatal(err)
	}
	if text := replica.text(); text != "a 1\nb 2\n" {
		t.Errorf("it has %q", text)
	}
	s.await("metrics of deltas", func() bool { return strings.Contains(s.metrics(), `fleetd_replica_deltas{name="asn"} 1`) })
}

// TestUnsignedDeltaIsRefused: a server that was taken over cannot put a delta of its own
// below a signed revision.
func TestUnsignedDeltaIsRefused(t *testing.T) {
	s := newServer(t)
	public, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	client, err := fleet.NewClient(s.url, fleet.ClientOptions{Token: s.token(fleet.OperatorRole, "asn", "")})
	if err != nil {
		t.Fatal(err)
	}
	signed := func(key ed25519.PrivateKey) *fleet.Publisher {
		p, err := fleet.NewPublisher(client, "asn", fleet.PublisherOptions{Key: key, New: true})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	whole := strings.Repeat("a 1\n", 50)
	first, _, err := signed(private).Publish(t.Context(), strings.NewReader(whole), "")
	if err != nil {
		t.Fatal(err)
	}
	foreign, err := signed(nil).StoreDelta(t.Context(), first.ID, strings.NewReader("b 1\n"))
	if err != nil {
		t.Fatal(err)
	}
	last, _, err := signed(private).PublishDelta(t.Context(), foreign.ID, strings.NewReader("c 1\n"), "")
	if err != nil {
		t.Fatal(err)
	}
	replica := s.following("r0", t.TempDir(), public)
	if err := replica.reloader.Reload(t.Context()); err == nil || !strings.Contains(err.Error(), "it is not signed") || !strings.Contains(err.Error(), foreign.ID) {
		t.Errorf("%q on an unsigned delta: %v", last.ID, err)
	}
	if text := replica.text(); text != "" {
		t.Errorf("it has %q", text)
	}
}
