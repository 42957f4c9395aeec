package verify

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/poolswap/poolswap/fleet"
)

// TestKilledServer kills the server amid publications. What was acknowledged stays, what
// is wanted is whole, and replicas only go forward.
func TestKilledServer(t *testing.T) {
	long(t)
	t.Parallel()
	n := newNode(t)
	m := newTeam(t, n.client(), fleet.PublisherOptions{})
	replicas := []*replica{start(t, n.client(), fleet.SourceOptions{ID: "a"}), start(t, n.client(), fleet.SourceOptions{ID: "b"})}
	var tried []string
	acknowledged := -1
	begun := make(chan int)
	go func() {
		defer close(begun)
		for i := range 60 {
			begun <- i
			text := fmt.Sprintf("%d %s", i, strings.Repeat("x", rand.IntN(1<<20)))
			tried = append(tried, text)
			if _, _, err := m.Publish(t.Context(), strings.NewReader(text), ""); err == nil {
				acknowledged = i
			}
		}
	}()
	for i := range begun {
		if i%6 == 3 {
			time.Sleep(time.Duration(rand.IntN(50)) * time.Millisecond) // anywhere in the publication
			n.kill()
			n.start()
		}
	}
	if acknowledged < 30 {
		t.Fatalf("the last acknowledged publication is %d", acknowledged)
	}
	if _, damaged, err := m.client.Verify(t.Context(), "table"); err != nil || len(damaged) > 0 {
		t.Errorf("the content is damaged: %v, %v", damaged, err)
	}
	history := must(m.History(t.Context(), "", 1000))(t)
	order := map[string]int{}
	for i, c := range slices.Backward(history) {
		order[c.To] = len(history) - i
		if c.Seq != uint64(len(history)-i) {
			t.Errorf("entry %d of the history has seq %d", len(history)-i, c.Seq)
		}
	}
	for _, r := range replicas {
		eventually(t, r.id+" has what was acknowledged", func() bool { return slices.Index(tried, r.text()) >= acknowledged })
		r.stop()
		if !slices.IsSortedFunc(r.runs, func(a, b string) int { return order[a] - order[b] }) || len(r.runs) < 3 {
			t.Errorf("%s ran %q", r.id, r.runs)
		}
	}
}

// TestKilledReplica kills a replica with a Cache, also while the server is down.
func TestKilledReplica(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	m := newTeam(t, n.client(), fleet.PublisherOptions{})
	m.publish(t, "one")
	dir := t.TempDir()
	await := func(lines <-chan string, want string) {
		t.Helper()
		for {
			select {
			case line, ok := <-lines:
				if line == want {
					return
				}
				if !ok {
					t.Fatalf("the replica ended before it had %q", want)
				}
			case <-time.After(time.Minute):
				t.Fatalf("the replica does not get %q", want)
			}
		}
	}
	lines, kill := killable(t, n.url(), n.token(), dir)
	await(lines, "one")
	for i := range 5 {
		text := fmt.Sprint("text", i)
		m.publish(t, text)
		if i%2 == 0 {
			await(lines, text)
		}
		kill()
		n.kill()
		lines, kill = killable(t, n.url(), n.token(), dir)
		if i%2 == 0 {
			await(lines, text) // from its Cache
		}
		n.start()
		if i%2 == 1 {
			await(lines, text)
		}
	}
	m.publish(t, "bad") // not loaded, and not kept
	eventually(t, "the refusal is reported", func() bool {
		status, err := m.Status(t.Context())
		return err == nil && len(status.Replicas) == 1 && status.Replicas[0].State(status.Plan, status.Now) == fleet.Failing
	})
	kill()
	lines, _ = killable(t, n.url(), n.token(), dir)
	await(lines, "text4")
}

// TestCutNetwork cuts off a replica. It serves its content, the others do not notice, and
// it follows when the network is back.
func TestCutNetwork(t *testing.T) {
	t.Parallel()
	for name, fault := range faults {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := newNode(t)
			p := newProxy(t, n.address)
			m := newTeam(t, n.client(), fleet.PublisherOptions{})
			_, plan := m.publish(t, "one")
			cut, other := start(t, newClient(t, p.url(), n.token()), fleet.SourceOptions{ID: "cut"}), start(t, n.client(), fleet.SourceOptions{ID: "other"})
			cut.awaitText(t, "one")
			m.await(t, plan)
			fault(p)
			_, plan = m.publish(t, strings.Repeat("two", 1<<20))
			other.awaitText(t, strings.Repeat("two", 1<<20))
			eventually(t, "the server misses the replica", func() bool {
				status, err := m.Status(t.Context())
				return err == nil && status.Counts[fleet.Silent] == 1
			})
			if cut.text() != "one" {
				t.Errorf("readers have %.10q", cut.text())
			}
			m.await(t, plan) // a silent replica holds nobody up
			p.heal()
			cut.awaitText(t, strings.Repeat("two", 1<<20))
			m.await(t, plan)
		})
	}
}

// TestCutContent breaks the network again and again while replicas fetch content.
func TestCutContent(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	p := newProxy(t, n.address)
	m := newTeam(t, n.client(), fleet.PublisherOptions{})
	text := strings.Repeat("0123456789abcdef", 4<<20)
	m.publish(t, text)
	r := start(t, newClient(t, p.url(), n.token()), fleet.SourceOptions{ID: "r"})
	for range 20 {
		time.Sleep(20 * time.Millisecond)
		p.set(func() { p.cut = true })
		p.heal()
	}
	r.awaitText(t, text)
}

// TestCluster loses one node, and then two, of three.
func TestCluster(t *testing.T) {
	noLeak(t)
	nodes := newCluster(t)
	servers, token := startAll(t, nodes)
	c := newClient(t, servers, token)
	m := newTeam(t, c, fleet.PublisherOptions{})
	_, plan := m.publish(t, "one")
	var replicas []*replica
	for i := range 6 {
		replicas = append(replicas, start(t, newClient(t, servers, token), fleet.SourceOptions{ID: fmt.Sprint("r", i)}))
	}
	m.await(t, plan)
	for i, n := range nodes { // one of them is the leader
		n.kill()
		text := fmt.Sprint("without ", i)
		eventually(t, "two of three publish", func() bool {
			_, next, err := m.Publish(t.Context(), strings.NewReader(text), "")
			plan = next
			return err == nil
		})
		m.await(t, plan)
		for _, r := range replicas {
			if r.text() != text {
				t.Errorf("%s has %q, want %q", r.id, r.text(), text)
			}
		}
		n.start()
		n.awaitReady()
	}
	nodes[0].kill()
	nodes[1].kill()
	ctx := t.Context()
	var failed *fleet.Error
	if _, err := m.Pause(ctx, ""); !errors.As(err, &failed) {
		t.Errorf("one of three made a change: %v", err)
	}
	late := start(t, newClient(t, servers, token), fleet.SourceOptions{ID: "late"}) // plans and content can be read
	late.awaitText(t, "without 2")
	nodes[0].start()
	eventually(t, "two of three make changes again", func() bool {
		var err error
		_, plan, err = m.Publish(ctx, strings.NewReader("two again"), "")
		return err == nil
	})
	m.await(t, plan)
	nodes[1].start()
	nodes[1].awaitReady()
	for i, n := range nodes { // each of them has all of it
		r := start(t, newClient(t, n.url(), token), fleet.SourceOptions{ID: fmt.Sprint("of ", i)})
		r.awaitText(t, "two again")
	}
	seen := map[uint64]bool{}
	for _, change := range must(m.History(ctx, "", 100))(t) {
		if seen[change.Seq] {
			t.Errorf("two changes have seq %d", change.Seq)
		}
		seen[change.Seq] = true
	}
}

// TestSilentNode cuts off the node that a replica uses. The replica goes on with another.
func TestSilentNode(t *testing.T) {
	long(t)
	t.Parallel()
	nodes := newCluster(t)
	_, token := startAll(t, nodes)
	p := newProxy(t, nodes[0].address)
	m := newTeam(t, newClient(t, nodes[1].url(), token), fleet.PublisherOptions{})
	_, plan := m.publish(t, "one")
	r := start(t, newClient(t, p.url()+","+nodes[1].url(), token), fleet.SourceOptions{ID: "r"})
	m.await(t, plan)
	for i := range 2 { // it began with one of the two
		faults["black hole"](p)
		text := fmt.Sprint("silent ", i)
		m.publish(t, text)
		r.awaitText(t, text)
		p.heal()
	}
}

// TestOrder publishes content of any time. No clock makes the order of plans.
func TestOrder(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	m := newTeam(t, n.client(), fleet.PublisherOptions{})
	m.publish(t, "one")
	r := start(t, n.client(), fleet.SourceOptions{ID: "r", Floor: time.Now().Add(-2 * time.Hour)})
	old := start(t, n.client(), fleet.SourceOptions{ID: "old"})
	for i, off := range []time.Duration{30 * 24 * time.Hour, -time.Hour, 100 * 365 * 24 * time.Hour, -3 * time.Hour} {
		text := fmt.Sprint("off by ", off)
		revision := must(m.Store(t.Context(), strings.NewReader(text)))(t)
		copied := revision
		copied.ID, copied.Created = fmt.Sprint("copy", i), time.Now().Add(off).UTC()
		content := must(m.client.Content(t.Context(), "table", revision))(t)
		if err := m.Restore(t.Context(), copied, content); err != nil {
			t.Fatal(err)
		}
		content.Close()
		must(m.Rollback(t.Context(), copied.ID, ""))(t)
		old.awaitText(t, text)
		if off > -2*time.Hour {
			r.awaitText(t, text)
		}
	}
	err := r.Reload(t.Context())
	if err == nil || !strings.Contains(err.Error(), "before the floor") || !strings.HasPrefix(r.text(), "off by 876000h") {
		t.Errorf("a revision before the floor: %v, and readers have %q", err, r.text())
	}
}

// TestTwoPublishers change a plan side by side. Each change is made once, and the loser
// is told.
func TestTwoPublishers(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	m := newTeam(t, n.client(), fleet.PublisherOptions{})
	_, before := m.publish(t, "zero")
	results := make(chan error)
	for i := range 4 { // a token has so many uploads at once
		go func() {
			_, _, err := m.Publish(t.Context(), io.LimitReader(rand.NewChaCha8([32]byte{byte(i)}), 1<<20), "")
			results <- err
		}()
	}
	made := 0
	for range 4 {
		switch err := <-results; {
		case err == nil:
			made++
		case !errors.Is(err, fleet.ErrConflict):
			t.Error(err)
		}
	}
	if plan := must(m.Plan(t.Context()))(t); made == 0 || plan.Seq != before.Seq+uint64(made) {
		t.Errorf("%d publications were made, and the plan is %s", made, plan.Version())
	}
}
