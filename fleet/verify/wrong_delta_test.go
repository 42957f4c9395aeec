package verify

import (
	"maps"
	"strings"
	"testing"

	"github.com/poolswap/poolswap/fleet"
	"github.com/poolswap/poolswap/reload"
)

// TestWrongDelta publishes a delta that lacks a row: the replica keeps its table, also after
// the whole content, which leads to the same rows, and loads the next snapshot. The server
// counts it.
func TestWrongDelta(t *testing.T) {
	noLeak(t)
	n := newNode(t)
	m := newTeam(t, n.client(), fleet.PublisherOptions{})
	all := map[string]string{"a": "1", "b": "1", "c": strings.Repeat("x", 100)}
	meant := map[string]map[string]string{"": {}} // by revision
	var revision fleet.Revision
	publish := func(base, text string) {
		t.Helper()
		p, err := m.WithState(stateOf(all)), error(nil)
		if base == "" {
			revision, _, err = p.Publish(t.Context(), strings.NewReader(text), "")
		} else {
			revision, _, err = p.PublishDelta(t.Context(), base, strings.NewReader(text), "")
		}
		if err != nil {
			t.Fatal(err)
		}
		meant[revision.ID] = maps.Clone(all)
	}
	publish("", textOf(all))
	f := newFollower(t, newClient(t, n.url(), n.token()), "table", "r1", "", true, nil, func(string) {})
	t.Cleanup(func() {
		f.stop()
		f.source.Leave()
	})
	attempt := func(want string) reload.Status {
		t.Helper()
		err := f.reloader.Reload(t.Context())
		if got := f.reloader.Status().Revision; got != want {
			t.Fatalf("the replica runs %q, want %q: %v", got, want, err)
		}
		if err := f.check(func(revision string) map[string]string { return meant[revision] }); err != nil {
			t.Error(err)
		}
		return f.reloader.Status()
	}
	status := func(texts ...string) {
		t.Helper()
		var text string
		eventually(t, "the status says "+strings.Join(texts, ", "), func() bool {
			text = must(n.run("status", "table"))(t)
			for _, one := range texts {
				if !strings.Contains(text, one) {
					return false
				}
			}
			return true
		})
	}

	attempt(revision.ID)
	all["a"] = "2"
	publish(revision.ID, "a 2\n")
	attempt(revision.ID)
	status("1 swaps by deltas saved 0.0 MiB.\n", "running")

	right := revision.ID
	all["a"], all["b"] = "3", "3"
	publish(right, "a 3\n")
	if s := attempt(right); s.Refused != revision.ID {
		t.Errorf("refused is %q, want %q", s.Refused, revision.ID)
	}
	status("Replicas that fell back to whole content: 1, such as r1: verify: it leads to other rows than those of its publisher", "failing")

	publish("", textOf(all))
	attempt(revision.ID)
	status("fell back to whole content: 1,", "running")
}
