package verify

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/poolswap/poolswap/fleet"
)

// watchLoop is a loop over Watch.
type watchLoop struct {
	t    *testing.T
	next func() (*fleet.Status, error, bool)
	errs []error // that it yielded
}

func watch(t *testing.T, c *fleet.Controller) *watchLoop {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 60*time.Second)
	next, stop := iter.Pull2(c.Watch(ctx))
	t.Cleanup(func() {
		stop()
		cancel()
	})
	return &watchLoop{t: t, next: next}
}

func (w *watchLoop) until(what string, right func(*fleet.Status) bool) *fleet.Status {
	w.t.Helper()
	for {
		status, err, ok := w.next()
		switch {
		case !ok:
			w.t.Fatalf("Watch ends before %s", what)
		case err != nil:
			w.errs = append(w.errs, err)
		case right(status):
			return status
		}
	}
}

// watchAllRun reports whether n replicas run a revision.
func watchAllRun(n int, revision string) func(*fleet.Status) bool {
	return func(s *fleet.Status) bool {
		return len(s.Replicas) == n && !slices.ContainsFunc(s.Replicas, func(r fleet.Report) bool { return r.Revision != revision })
	}
}

func TestNamesAreThoseThatHaveAPlan(t *testing.T) {
	h := newHost(t)
	conn := h.dial()
	if names, err := fleet.Names(t.Context(), conn); err != nil || len(names) != 0 {
		t.Errorf("the names are %q, %v", names, err)
	}
	want := []string{" ", "*", "=41", "A", "a.b>", "tab\tle", "ü/\x7f"}
	for _, name := range want {
		p, err := fleet.NewPublisher(conn, name, fleet.PublisherOptions{By: "alice"})
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := p.Publish(t.Context(), strings.NewReader("one"), ""); err != nil {
			t.Fatal(err)
		}
	}
	stored, err := fleet.NewPublisher(conn, "stored", fleet.PublisherOptions{By: "alice"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := stored.Store(t.Context(), strings.NewReader("one")); err != nil {
		t.Fatal(err)
	}
	if names, err := fleet.Names(t.Context(), conn); err != nil || !slices.Equal(names, want) {
		t.Errorf("the names are %q, %v, want %q", names, err, want)
	}
}

func TestWatchFollowsPlanAndReports(t *testing.T) {
	m := newTeam(t, 2)
	one := m.publish(t, "one")
	w := watch(t, m.Controller)
	w.until("both run it", watchAllRun(2, one.ID))
	two := m.publish(t, "two")
	if s := w.until("both run the next", watchAllRun(2, two.ID)); s.Name != "table" || s.Plan.Stable != two.ID || s.Replicas[0].ID != "replica.0" {
		t.Errorf("it yields %+v", s)
	}
	paused := changed(t)(m.Pause(t.Context(), "look"))
	w.until("it is paused", func(s *fleet.Status) bool { return s.Plan.Seq == paused.Seq && s.Plan.Paused })
	if len(w.errs) > 0 {
		t.Errorf("it yields errors: %v", w.errs)
	}
}

func TestWatchWaitsForAPlan(t *testing.T) {
	long(t)
	m := newTeam(t, 0)
	w := watch(t, m.Controller)
	if s, err, ok := w.next(); s != nil || !errors.Is(err, fleet.ErrNoPlan) || !ok {
		t.Fatalf("it yields %v, %v", s, err)
	}
	one := m.publish(t, "one")
	w.until("there is a plan", func(s *fleet.Status) bool { return s.Plan.Stable == one.ID })
}

func TestWatchForgetsReplicasThatAreSilent(t *testing.T) {
	long(t)
	t.Parallel() // it waits most of its time
	m := newTeam(t, 2)
	if err := fleet.Setup(t.Context(), m.dial(), fleet.SetupOptions{ReportTTL: 3 * time.Second}); err != nil {
		t.Fatal(err)
	}
	one := m.publish(t, "one")
	w := watch(t, m.Controller)
	w.until("both run it", watchAllRun(2, one.ID))
	m.replicas[0].stop()
	s := w.until("one is gone", func(s *fleet.Status) bool { return len(s.Replicas) == 1 })
	if s.Replicas[0].ID != "replica.1" {
		t.Errorf("%+v is left", s.Replicas)
	}
	// A loop that begins with the report of a replica that has gone.
	m.replicas[1].stop()
	late := watch(t, m.Controller)
	late.until("none is left", func(s *fleet.Status) bool { return len(s.Replicas) == 0 })
	w.until("none is left", func(s *fleet.Status) bool { return len(s.Replicas) == 0 })
}

func TestWatchComesBackAfterAServerRestart(t *testing.T) {
	m := newTeam(t, 2)
	one := m.publish(t, "one")
	w := watch(t, m.Controller)
	w.until("both run it", watchAllRun(2, one.ID))
	m.stop()
	if s, err, ok := w.next(); err == nil || !ok {
		t.Fatalf("without a server it yields %+v", s)
	}
	m.start()
	eventually(t, "publications go on", func() bool {
		_, _, err := m.publisher.Publish(t.Context(), strings.NewReader("two"), "")
		return err == nil
	})
	w.until("both run the next", func(s *fleet.Status) bool { return watchAllRun(2, s.Plan.Stable)(s) && s.Plan.Stable != one.ID })
}

// A store that was lost begins a new epoch, whose seq is lower.
func TestWatchAdoptsANewEpoch(t *testing.T) {
	m := newTeam(t, 1)
	for i := range 3 {
		m.publish(t, fmt.Sprint(i))
	}
	w := watch(t, m.Controller)
	w.until("the third is there", func(s *fleet.Status) bool { return s.Plan.Seq == 3 })
	m.stop()
	m.dir = t.TempDir()
	m.start()
	eventually(t, "the new store is set up", func() bool {
		return fleet.Setup(t.Context(), m.dial(), fleet.SetupOptions{}) == nil
	})
	publisher, err := fleet.NewPublisher(m.dial(), "table", fleet.PublisherOptions{By: "alice"})
	if err != nil {
		t.Fatal(err)
	}
	anew, _, err := publisher.Publish(t.Context(), strings.NewReader("anew"), "")
	if err != nil {
		t.Fatal(err)
	}
	w.until("the new plan is there", func(s *fleet.Status) bool { return s.Plan.Stable == anew.ID })
}

func TestWatchLeavesNothingBehind(t *testing.T) {
	m := newTeam(t, 2)
	one := m.publish(t, "one")
	m.awaitReports(t, one.ID)
	conn := m.dial()
	c, err := fleet.NewController(conn, "table", "carol")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Status(t.Context()); err != nil {
		t.Fatal(err)
	}
	for range 20 { // more than goroutines that come and go by themselves
		for _, err := range c.Watch(t.Context()) {
			if err != nil {
				t.Error(err)
			}
			break
		}
	}
	eventually(t, "no subscription and no goroutine of a watcher is left", func() bool {
		stacks := make([]byte, 1<<20)
		text := string(stacks[:runtime.Stack(stacks, true)])
		// Replicas have a watcher of plans each.
		return conn.NumSubscriptions() <= 1 && strings.Count(text, "WatchFiltered") <= len(m.replicas)
	})
	conn.Close()
	for _, err := range c.Watch(t.Context()) {
		if !errors.Is(err, nats.ErrConnectionClosed) {
			t.Errorf("on a closed connection it yields %v", err)
		}
	}
}

// A person decides by a plan that was shown a while ago.
func TestAChangeAtAnOldPlanIsAConflict(t *testing.T) {
	m, ok := newTeam(t, 0), changed(t)
	m.publish(t, "one")
	status, err := m.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	shown := m.At(status.Plan.Epoch, status.Plan.Seq)
	ok(shown.Pause(t.Context(), "as shown"))
	if _, err := shown.Resume(t.Context(), "too late"); !errors.Is(err, fleet.ErrConflict) {
		t.Errorf("a change at an old plan: %v", err)
	}
	if _, err := m.At(status.Plan.Epoch+1, status.Plan.Seq+1).Resume(t.Context(), "another epoch"); !errors.Is(err, fleet.ErrConflict) {
		t.Errorf("a change at a plan of another epoch: %v", err)
	}
	ok(m.At(status.Plan.Epoch, status.Plan.Seq+1).Resume(t.Context(), "as shown now"))
}

// One replica must not be able to hide the others.
func TestAReportThatCannotBeReadIsLeftOut(t *testing.T) {
	m := newTeam(t, 2)
	one := m.publish(t, "one")
	m.awaitReports(t, one.ID)
	conn := m.dial()
	for key, text := range map[string]string{"table.nonsense": "{", "table.impostor": `{"id":"replica.0","revision":"none"}`} {
		putReport(t, conn, key, text)
	}
	s, err := m.Status(t.Context())
	if err != nil || !watchAllRun(2, one.ID)(s) {
		t.Errorf("the status is %+v, %v", s, err)
	}
	watch(t, m.Controller).until("both run it", watchAllRun(2, one.ID))
}

// A watcher that was reset replays: an old plan or report is no news.
func TestWatchGoesToNoOldPlan(t *testing.T) {
	m := newTeam(t, 0)
	m.publish(t, "one")
	last := m.publish(t, "two")
	w := watch(t, m.Controller)
	w.until("it begins", func(s *fleet.Status) bool { return s.Plan.Seq == 2 })
	conn := m.dial()
	tamper(t, conn, func(p *fleet.Plan) { p.Seq, p.Stable = 1, p.Previous })
	for i := range 3 {
		id := fmt.Sprint(i)
		putReport(t, conn, "table."+id, `{"id":"`+id+`"}`)
		if s := w.until("the report is there", func(s *fleet.Status) bool { return len(s.Replicas) == i+1 }); s.Plan.Stable != last.ID {
			t.Errorf("the plan is %+v", s.Plan)
		}
	}
}
