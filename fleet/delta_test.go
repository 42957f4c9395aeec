package fleet_test

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/poolswap/poolswap/fleet"
)

// TestServerLiesAboutAChain: a replica loads nothing but what leads to the revision.
func TestServerLiesAboutAChain(t *testing.T) {
	s := newServer()
	client := client(t, s)
	publisher, err := fleet.NewPublisher(client, "asn", fleet.PublisherOptions{New: true})
	if err != nil {
		t.Fatal(err)
	}
	whole, _, err := publisher.Publish(t.Context(), strings.NewReader(strings.Repeat("0123456789", 10)), "")
	if err != nil {
		t.Fatal(err)
	}
	middle, err := publisher.StoreDelta(t.Context(), whole.ID, strings.NewReader("middle"))
	if err != nil {
		t.Fatal(err)
	}
	last, _, err := publisher.PublishDelta(t.Context(), middle.ID, strings.NewReader("last"), "")
	if err != nil {
		t.Fatal(err)
	}
	other := last
	other.SHA256 = whole.SHA256
	endless := make([]fleet.Revision, fleet.MaxDeltas+2)
	for name, chain := range map[string][]fleet.Revision{
		"nothing":         {},
		"no base":         {middle, last},
		"a gap":           {whole, last},
		"another end":     {whole, middle},
		"another content": {whole, middle, other},
		"another order":   {middle, whole, last},
		"too many":        endless,
	} {
		s.on(func(w http.ResponseWriter, r *http.Request) bool {
			if strings.HasSuffix(r.URL.Path, "/chain") {
				reply(w, 200, map[string]any{"revisions": chain})
				return true
			}
			return false
		})
		for _, from := range []string{"", "unknown"} {
			if got, err := client.Chain(t.Context(), "asn", last, from); err == nil || !strings.Contains(err.Error(), "another chain") {
				t.Errorf("%s, from %q: %+v, %v", name, from, got, err)
			}
		}
	}
	s.on(nil)
	for from, want := range map[string]int{"": 3, whole.ID: 2, middle.ID: 1, last.ID: 3, "gone": 3} {
		if chain, err := client.Chain(t.Context(), "asn", last, from); err != nil || len(chain) != want {
			t.Errorf("from %q: %d revisions, %v, want %d", from, len(chain), err, want)
		}
	}
	if chain, err := client.Chain(t.Context(), "asn", whole, ""); err != nil || len(chain) != 1 {
		t.Errorf("of whole content: %+v, %v", chain, err)
	}
	if _, err := publisher.StoreDelta(t.Context(), "\x00", strings.NewReader("x")); err == nil || !strings.Contains(err.Error(), "id of the base") {
		t.Errorf("on a base that cannot be: %v", err)
	}
}

// TestStateIsSigned, and a revision without one has the statement that it always had.
func TestStateIsSigned(t *testing.T) {
	r := fleet.Revision{ID: "r1", Size: 3, SHA256: "aa", Created: time.Unix(1e9, 0)}
	plain := "poolswap fleet revision\n\"asn\"\n\"r1\"\n3\naa\n2001-09-09T01:46:40Z\n"
	base, state := "\"r0\"\n", strings.Repeat("ab", 32)
	for _, one := range []struct{ base, state, want string }{
		{"", "", plain},
		{"r0", "", plain + base},
		{"", state, plain + state + "\n"},
		{"r0", state, plain + base + state + "\n"},
	} {
		r.Base, r.State = one.base, one.state
		if got := string(r.Statement("asn")); got != one.want {
			t.Errorf("base %q, state %q: %q, want %q", one.base, one.state, got, one.want)
		}
	}
}

// TestStateGoesAllTheWay from the publisher to the content that a Reloader gets. Nobody
// between can change it, or leave it out.
func TestStateGoesAllTheWay(t *testing.T) {
	s := newServer()
	client := client(t, s)
	public, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	publisher, err := fleet.NewPublisher(client, "asn", fleet.PublisherOptions{New: true, Key: private})
	if err != nil {
		t.Fatal(err)
	}
	source, err := fleet.NewSource(client, "asn", fleet.SourceOptions{ID: "r1", Keys: []ed25519.PublicKey{public}})
	if err != nil {
		t.Fatal(err)
	}
	want := ""
	for i := range 2 {
		state := [32]byte{31: byte(i)}
		revision, plan, err := publisher.WithState(state).Publish(t.Context(), strings.NewReader("rows"), "")
		if err != nil {
			t.Fatal(err)
		}
		want = hex.EncodeToString(state[:])
		if got := plan.Revisions[revision.ID].State; revision.State != want || got != want {
			t.Errorf("the state is %q, of the plan %q, want %q", revision.State, got, want)
		}
		content, err := source.Fetch(t.Context(), "")
		if err != nil || content.State != want {
			t.Fatalf("%+v, %v", content, err)
		}
		content.Body.Close()
	}
	for _, other := range []string{"", strings.Repeat("0", 64), strings.ToUpper(strings.Repeat("a", 64)), "x"} {
		lying, err := fleet.NewSource(client, "asn", fleet.SourceOptions{ID: "r1", Keys: []ed25519.PublicKey{public}})
		if err != nil {
			t.Fatal(err)
		}
		s.with(func() { s.stored[len(s.stored)-1].State = other })
		s.set(fleet.KindPublish, func(*fleet.Plan) {})
		if content, err := lying.Fetch(t.Context(), ""); err == nil || !strings.Contains(err.Error(), "is refused") {
			t.Errorf("with the state %q: %+v, %v", other, content, err)
		}
	}
}

// TestDeltasShareOneTransfer, which goes on after a break, and are read in their order only.
func TestDeltasShareOneTransfer(t *testing.T) {
	s := newServer()
	s.publish("r0", []byte("whole"))
	want := []string{"whole"}
	for i, text := range []string{"one", "", "three", ""} {
		s.put(fmt.Sprint("r", i+1), []byte(text), func(to *fleet.Revision) { to.Base = fmt.Sprint("r", i) })
		want = append(want, text)
	}
	s.set(fleet.KindPublish, func(next *fleet.Plan) { next.Stable = "r4" })
	var ranges []string
	s.on(func(w http.ResponseWriter, r *http.Request) bool {
		if strings.HasSuffix(r.URL.Path, "/deltas") {
			if ranges = append(ranges, r.Header.Get("Range")); len(ranges) == 1 {
				w.Header().Set("Content-Length", "8")
				io.WriteString(w, "onet")
				panic(http.ErrAbortHandler)
			}
		}
		return false
	})
	source := source(t, client(t, s), fleet.SourceOptions{})
	content, err := source.Fetch(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	for i, part := range content.Parts {
		text, err := io.ReadAll(part.Body)
		if err != nil || string(text) != want[i] {
			t.Errorf("part %d is %q, %v, want %q", i, text, err, want[i])
		}
		if err := errors.Join(part.Verify(sha256.Sum256(text)), part.Body.Close()); err != nil {
			t.Error(err)
		}
		if err := part.Verify([32]byte{}); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("%q", part.Revision)) {
			t.Errorf("other bytes of part %d: %v", i, err)
		}
	}
	if len(content.Parts) != len(want) || !slices.Equal(ranges, []string{"", "bytes=4-"}) {
		t.Errorf("%d parts, by requests for the ranges %q", len(content.Parts), ranges)
	}
	if content, err = source.Fetch(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	defer content.Body.Close()
	if n, err := content.Parts[3].Body.Read(make([]byte, 10)); err == nil || !strings.Contains(err.Error(), "order") {
		t.Errorf("the third delta, read first: %d bytes, %v", n, err)
	}
}
