package fleet_test

import (
	"net/http"
	"strings"
	"testing"

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
		if got, err := client.Chain(t.Context(), "asn", last, ""); err == nil || !strings.Contains(err.Error(), "another chain") {
			t.Errorf("%s: %+v, %v", name, got, err)
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
