package verify

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/poolswap/poolswap/fleet"
	"github.com/poolswap/poolswap/fleet/internal/clock"
	"github.com/poolswap/poolswap/reload"
)

// setClock makes the clock of publishers and of those who steer wrong by off,
// until the test ends.
func setClock(t testing.TB, off time.Duration) {
	clock.Set(func() time.Time { return time.Now().Add(off) })
	t.Cleanup(func() { clock.Set(nil) })
}

func TestOrderDependsOnNoClock(t *testing.T) {
	m, ok := newTeam(t, 2), changed(t)
	var want []string // revisions
	for i, off := range []time.Duration{0, time.Hour, -time.Hour, 2 * time.Hour, -2 * time.Hour, 0} {
		setClock(t, off)
		text := fmt.Sprint(i)
		r := m.publish(t, text)
		if wrong := time.Until(r.Created) - off; wrong.Abs() > 10*time.Minute {
			t.Fatalf("the clock is wrong by %v, and %v was created at %v", off, i, r.Created)
		}
		want = append(want, r.ID)
		m.await(t, text, text)
	}
	late := run(t, m.dial(), "late", fleet.SourceOptions{})
	late.awaitText(t, "5")
	stored, err := m.Stored(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, one := range slices.Backward(stored) {
		got = append(got, one.ID)
	}
	if !slices.Equal(got, want) {
		t.Errorf("stored are %q, want %q", got, want)
	}
	history, err := m.History(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range history {
		if c.Seq != uint64(i+1) || c.To != want[i] {
			t.Errorf("change %d is %+v", i, c)
		}
	}
	ok(m.Rollback(t.Context(), "", ""))
	m.await(t, "4", "4")
	for _, r := range m.replicas {
		r.stop()
		if want := append(slices.Clone(want), want[4]); !slices.Equal(r.runs, want) {
			t.Errorf("%s ran %q, want %q", r.id, r.runs, want)
		}
	}
}

// A floor is compared with what the clock of the publisher said.
func TestAFloorIsByTheClockOfThePublisher(t *testing.T) {
	m := newTeam(t, 0)
	fresh := m.publish(t, "new")
	r := newReplica(t, m.dial(), "r", fleet.SourceOptions{Floor: fresh.Created})
	if err := r.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	setClock(t, -time.Hour)
	m.publish(t, "newer, by a clock that is behind")
	r.fails(t, "before the floor of this replica", "new")
	setClock(t, time.Hour)
	m.publish(t, "newest")
	setClock(t, -time.Hour) // that of the replica
	if err := r.Reload(t.Context()); err != nil || r.text() != "newest" {
		t.Errorf("%v, %q", err, r.text())
	}
}

// Retention goes by the clock of the server.
func TestRetainDependsOnNoClockButTheServers(t *testing.T) {
	long(t)
	m, ok := newTeam(t, 0), changed(t)
	unused := m.storeContent(t, "unused")
	old := m.storeContent(t, "old")
	time.Sleep(2 * time.Second)
	began := time.Now()
	setClock(t, -time.Hour)
	ok(m.Rollback(t.Context(), old.ID, "")) // old is what a change was about lately
	for i := range 3 {
		m.publish(t, fmt.Sprint(i))
	}
	for _, off := range []time.Duration{time.Hour, -time.Hour, 48 * time.Hour} {
		setClock(t, off)
		if gone, err := m.Retain(t.Context(), fleet.RetainOptions{Keep: 1}); err != nil || len(gone) != 0 {
			t.Errorf("with a clock that is off by %v: %v are deleted, %v", off, gone, err)
		}
	}
	setClock(t, -48*time.Hour)
	gone, err := m.Retain(t.Context(), fleet.RetainOptions{Keep: 1, MinAge: time.Since(began) + 1500*time.Millisecond})
	if err != nil || len(gone) != 0 { // unused is the newest of the other revisions
		t.Errorf("%v are deleted, %v", gone, err)
	}
	time.Sleep(10 * time.Millisecond)
	gone, err = m.Retain(t.Context(), fleet.RetainOptions{Keep: 1, MinAge: time.Millisecond})
	if err != nil || len(gone) != 2 || gone[0].ID != old.ID || gone[1].ID != unused.ID {
		t.Errorf("%v are deleted, %v", gone, err)
	}
}

// A replica's clock says when something was, and not how long it is listed.
func TestAReportIsForgottenByTheClockOfTheServer(t *testing.T) {
	long(t)
	m := newTeam(t, 0)
	m.publish(t, "content")
	if err := fleet.Setup(t.Context(), m.dial(), fleet.SetupOptions{ReportTTL: 2 * time.Second}); err != nil {
		t.Fatal(err)
	}
	ats := map[string]time.Time{}
	for id, off := range map[string]time.Duration{"behind": -time.Hour, "ahead": time.Hour} {
		r := newReplica(t, m.dial(), id, fleet.SourceOptions{})
		ats[id] = time.Now().Add(off)
		r.source.Observe(reload.Event{Outcome: reload.Loaded, At: ats[id], Revision: "a"})
	}
	listed := func() int {
		status, err := m.Status(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range status.Replicas {
			if !r.At.Equal(ats[r.ID]) || !r.Since.Equal(ats[r.ID]) {
				t.Errorf("%s reports %v and %v, want %v", r.ID, r.At, r.Since, ats[r.ID])
			}
		}
		return len(status.Replicas)
	}
	eventually(t, "both are listed", func() bool { return listed() == 2 })
	eventually(t, "both are forgotten", func() bool { return listed() == 0 })
}

// A store that is made anew while the clock is an hour behind, or stands, begins
// another epoch, and replicas adopt it.
func TestAnEpochDependsOnNoClock(t *testing.T) {
	m := newTeam(t, 1)
	now := time.Now()
	epochs := map[uint64]bool{}
	for i, off := range []time.Duration{0, 0, 0, -time.Hour, -time.Hour, time.Hour, -2 * time.Hour} {
		if i > 0 {
			m.lose(t)
		}
		clock.Set(func() time.Time { return now.Add(off) })
		t.Cleanup(func() { clock.Set(nil) })
		text := fmt.Sprint(i)
		_, plan, err := m.publisher.Publish(t.Context(), strings.NewReader(text), "")
		if err != nil {
			t.Fatal(err)
		}
		if epochs[plan.Epoch] {
			t.Errorf("epoch %d begins a second time", plan.Epoch)
		}
		if began := time.Unix(0, int64(plan.Epoch)); began.Sub(now.Add(off)).Abs() > time.Minute {
			t.Errorf("epoch %d says that it began at %v", plan.Epoch, began)
		}
		epochs[plan.Epoch] = true
		m.await(t, text)
	}
}
