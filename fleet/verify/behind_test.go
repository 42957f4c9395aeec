package verify

import (
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/poolswap/poolswap/fleet"
)

// TestFarBehind: a replica that is a thousand revisions behind, and a new one, get the last
// snapshot, and in one more request the deltas since, a quarter of its bytes at most.
func TestFarBehind(t *testing.T) {
	long(t)
	noLeak(t)
	n := newNode(t)
	network := newMeddler(t, n.address)
	c := n.client()
	m := newTeam(t, c, fleet.PublisherOptions{})
	all := map[string]string{}
	for i := range 50_000 {
		all[fmt.Sprintf("row%d", i)] = "0"
	}
	last, _ := m.publish(t, textOf(all))
	follow := func(id string) *follower {
		f := newFollower(t, newClient(t, network.url, n.token()), "table", id, t.TempDir(), true, nil, func(string) {})
		t.Cleanup(func() {
			f.stop()
			f.source.Leave()
		})
		return f
	}
	behind := follow("behind")
	if err := behind.reloader.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	whole, deltas, snapshots := 0, 0, 0 // bytes of the last snapshot, deltas since, snapshots
	for i := 1; i <= 1000; i++ {
		r := row{fmt.Sprintf("row%d", i*37%50_000), fmt.Sprint(i)}
		set(all, r)
		next, _, err := m.PublishDelta(t.Context(), last.ID, strings.NewReader(r.key+" "+r.value+"\n"), "")
		deltas++
		if errors.Is(err, fleet.ErrSnapshot) {
			text := textOf(all)
			next, _, err = m.Publish(t.Context(), strings.NewReader(text), "")
			whole, deltas = len(text), 0
			snapshots++
		}
		if err != nil {
			t.Fatal(err)
		}
		last = next
	}
	for _, f := range []*follower{behind, follow("new")} {
		network.reset(func(string) {})
		if err := f.reloader.Reload(t.Context()); err != nil {
			t.Fatal(err)
		}
		network.mu.Lock()
		content, others, requests := network.got["content"], network.got["chain"]+network.got["plan"], network.asked
		network.mu.Unlock()
		t.Logf("%s: %d bytes of content, %d of plan and chain, in %d requests; the snapshot has %d bytes, %d deltas since; %d snapshots in all", f.id, content, others, requests, whole, deltas, snapshots)
		if content > whole*5/4 || others > 260*300 || requests != 4 {
			t.Errorf("%s costs more", f.id)
		}
		if got := f.reloader.Status().Revision; got != last.ID {
			t.Errorf("%s has revision %q", f.id, got)
		}
		obj := f.tables.Acquire()
		if !maps.Equal(obj.rows, all) {
			t.Errorf("%s has other rows", f.id)
		}
		f.tables.Release(obj)
	}
}
