package store_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/poolswap/poolswap/fleet"
	"github.com/poolswap/poolswap/fleet/fleetd/internal/store"
)

// ledger knows how each change of a name ended.
type ledger struct {
	mu    sync.Mutex
	ended map[string]error       // by Change.Why, which is a change's own
	plans map[string]*fleet.Plan // of those that were acknowledged
}

func newLedger() *ledger { return &ledger{ended: map[string]error{}, plans: map[string]*fleet.Plan{}} }

// change makes a change that writes itself into the plan.
func (l *ledger) change(ctx context.Context, s *store.Store, name, id string) error {
	plan, err := s.Change(ctx, name, "", "test", func(next *fleet.Plan, change *fleet.Change) error {
		change.Kind, change.Why = fleet.KindPause, id
		return nil
	})
	if err == nil {
		if now, err := s.Plan(name); err != nil || plan.After(now.Epoch, now.Seq) {
			return fmt.Errorf("after a change to %s the node has %v, %w", plan.Version(), now, err)
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ended[id], l.plans[id] = err, plan
	return nil
}

// check compares the history of the name with how the changes ended: an acknowledged
// one is there, once and where it was acknowledged; a conflict is not; others may be.
func (l *ledger) check(t testing.TB, s *store.Store, name string) {
	t.Helper()
	history, err := s.History(t.Context(), name, "", 1_000_000)
	if err != nil {
		t.Fatal(err)
	}
	there := map[string]fleet.Change{}
	for i, c := range history {
		if _, twice := there[c.Why]; twice && c.Why != "" {
			t.Errorf("change %q is there twice", c.Why)
		}
		there[c.Why] = c
		if i > 0 && (c.Seq != history[i-1].Seq-1 || c.Epoch != history[0].Epoch) {
			t.Errorf("change %d.%d follows %d.%d", history[i-1].Epoch, history[i-1].Seq, c.Epoch, c.Seq)
		}
	}
	acknowledged, conflicts, unknown := 0, 0, 0
	for id, err := range l.ended {
		c, ok := there[id]
		switch {
		case err == nil:
			acknowledged++
			if !ok || c.Seq != l.plans[id].Seq || c.Epoch != l.plans[id].Epoch {
				t.Errorf("change %q was acknowledged as %s, and the history has %+v", id, l.plans[id].Version(), c)
			}
		case errors.Is(err, fleet.ErrConflict):
			conflicts++
			if ok {
				t.Errorf("change %q was a conflict, and the history has it", id)
			}
		default:
			unknown++
			if !errors.Is(err, store.ErrUnavailable) {
				t.Errorf("change %q: %v", id, err)
			}
		}
	}
	t.Logf("%d changes were acknowledged, %d conflicts, %d unknown", acknowledged, conflicts, unknown)
	if acknowledged == 0 {
		t.Error("no change was acknowledged")
	}
}

func TestChangesAreComparedAndSet(t *testing.T) {
	s := open(t, store.Options{Dir: t.TempDir()})
	publish(t, s, "asn", "r1", "one")
	l := newLedger()
	var all sync.WaitGroup
	for worker := range 8 {
		all.Go(func() {
			for i := range 40 {
				if err := l.change(t.Context(), s, "asn", fmt.Sprint(worker, i)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	l.check(t, s, "asn")
}

// Two make the first plan of a name, and one of them begins first and ends last.
func TestFirstPlansAreComparedAndSet(t *testing.T) {
	s := open(t, store.Options{Dir: t.TempDir()})
	first := func(by string, meanwhile func()) error {
		_, err := s.Change(t.Context(), "asn", "0.0", by, func(*fleet.Plan, *fleet.Change) error {
			meanwhile()
			return nil
		})
		return err
	}
	err := first("slow", func() {
		if err := first("quick", func() {}); err != nil {
			t.Error(err)
		}
	})
	if !errors.Is(err, fleet.ErrConflict) {
		t.Errorf("the second first plan: %v, want a conflict", err)
	}
	if plan, err := s.Plan("asn"); err != nil || plan.Change.By != "quick" || plan.Seq != 1 {
		t.Errorf("the plan is %+v, %v", plan, err)
	}
}

func TestChangeRefusesAnotherVersion(t *testing.T) {
	s := open(t, store.Options{Dir: t.TempDir()})
	put(t, s, "asn", "r1", "one")
	if _, err := tryPublish(t.Context(), s, "asn", "7.1", "r1"); !errors.Is(err, fleet.ErrConflict) {
		t.Errorf("a change of plan 7.1 where there is none: %v", err)
	}
	first, err := tryPublish(t.Context(), s, "asn", "0.0", "r1")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tryPublish(t.Context(), s, "asn", "0.0", "r1"); !errors.Is(err, fleet.ErrConflict) || !strings.HasPrefix(err.Error(), "asn: ") {
		t.Errorf("a first plan where there is one: %v", err)
	}
	if second, err := tryPublish(t.Context(), s, "asn", first.Version(), "r1"); err != nil || second.Seq != 2 {
		t.Errorf("a change of the first plan: %v, %v", second, err)
	}
	if _, err := tryPublish(t.Context(), s, "asn", first.Version(), "r1"); !errors.Is(err, fleet.ErrConflict) {
		t.Errorf("another change of the first plan: %v", err)
	}
}

func TestChangeKeepsUnknownFields(t *testing.T) {
	s := open(t, store.Options{Dir: t.TempDir()})
	if err := s.Inject(t.Context(), `{"format": 2, "name": "asn", "epoch": 5, "seq": 3, "revisions": {}, "future": {"a": 1}}`, "plan", "asn"); err != nil {
		t.Fatal(err)
	}
	plan, err := s.Change(t.Context(), "asn", "5.3", "test", func(next *fleet.Plan, _ *fleet.Change) error {
		if next.Seq != 3 {
			t.Errorf("the plan to change has seq %d", next.Seq)
		}
		next.Paused, next.Mirrors = true, []string{"https://mirror.example"}
		next.Revisions["unused"] = fleet.Revision{ID: "unused"}
		return nil
	})
	if err != nil || plan.Version() != "5.4" || plan.Format != 2 {
		t.Fatalf("the plan is %+v, %v", plan, err)
	}
	stored, err := s.Stored(t.Context(), "plan", "asn")
	if err != nil || !strings.Contains(stored, `"future":{"a":1}`) || strings.Contains(stored, "mirror") || strings.Contains(stored, "unused") {
		t.Errorf("stored is %s, %v", stored, err)
	}
}

// A node of an earlier version claims a revision that one of a later version has stored.
func TestClaimKeepsUnknownFields(t *testing.T) {
	s := open(t, store.Options{Dir: t.TempDir()})
	put(t, s, "asn", "r1", "one")
	stored, err := s.Stored(t.Context(), "revision", "asn", "r1")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Inject(t.Context(), strings.TrimSuffix(stored, "}")+`, "future": {"a": 1}}`, "revision", "asn", "r1"); err != nil {
		t.Fatal(err)
	}
	publish(t, s, "asn", "r1", "one")
	stored, err = s.Stored(t.Context(), "revision", "asn", "r1")
	if err != nil || !strings.Contains(stored, `"future":{"a":1}`) || !strings.Contains(stored, `"claimed":true`) {
		t.Errorf("stored is %s, %v", stored, err)
	}
}

func TestChangeStoresNoPlanThatCannotBeRead(t *testing.T) {
	s := open(t, store.Options{Dir: t.TempDir()})
	errOf := errors.New("because")
	for what, f := range map[string]func(*fleet.Plan) error{
		"cannot be read": func(next *fleet.Plan) error { next.Stable = "not described"; return nil },
		"more than": func(next *fleet.Plan) error {
			next.Previous = strings.Repeat("x", 600_000)
			next.Revisions[next.Previous] = fleet.Revision{ID: next.Previous}
			return nil
		},
		"asn: " + errOf.Error():   func(*fleet.Plan) error { return errOf },
		"the name has 200 bytes,": nil,
	} {
		name := "asn"
		if f == nil {
			name, f = strings.Repeat("n", 200), func(*fleet.Plan) error { return nil }
		}
		_, err := s.Change(t.Context(), name, "", "test", func(next *fleet.Plan, _ *fleet.Change) error { return f(next) })
		if err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("%s: %v", what, err)
		}
		if _, err := s.Plan(name); !errors.Is(err, fleet.ErrNoPlan) {
			t.Errorf("%s: there is a plan, %v", what, err)
		}
	}
}

func TestPlanChangedIsToldOnce(t *testing.T) {
	s := open(t, store.Options{Dir: t.TempDir()})
	unknown := s.PlanChanged("asn")
	publish(t, s, "asn", "r1", "one")
	await(t, unknown)
	plans, reports := s.PlanChanged("asn"), s.ReportsChanged("asn")
	if err := s.Report(t.Context(), "asn", fleet.Report{ID: "a"}); err != nil {
		t.Fatal(err)
	}
	await(t, reports)
	select {
	case <-plans:
		t.Error("a report changes the plan")
	default:
	}
	if _, err := tryPublish(t.Context(), s, "asn", "", "r1"); err != nil {
		t.Fatal(err)
	}
	await(t, plans)
}

func await(t testing.TB, c <-chan struct{}) {
	t.Helper()
	select {
	case <-c:
	case <-time.After(patience):
		t.Fatal("the channel is not closed")
	}
}

func TestHistoryHasPages(t *testing.T) {
	s := open(t, store.Options{Dir: t.TempDir()})
	put(t, s, "asn", "r1", "one")
	for range 7 {
		if _, err := tryPublish(t.Context(), s, "asn", "", "r1"); err != nil {
			t.Fatal(err)
		}
	}
	var seqs []uint64
	for before := ""; ; {
		page, err := s.History(t.Context(), "asn", before, 3)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range page {
			seqs = append(seqs, c.Seq)
			before = fmt.Sprintf("%d.%d", c.Epoch, c.Seq)
		}
		if len(page) < 3 {
			break
		}
	}
	if fmt.Sprint(seqs) != "[7 6 5 4 3 2 1]" {
		t.Errorf("the pages have %v", seqs)
	}
	if _, err := s.History(t.Context(), "asn", "no version", 3); !errors.Is(err, store.ErrInvalid) {
		t.Errorf("a page before no version: %v", err)
	}
}

// The node that made a change may have ended before it recorded it.
func TestChangeRecordsTheOneBefore(t *testing.T) {
	s := open(t, store.Options{Dir: t.TempDir()})
	if err := s.Inject(t.Context(), `{"format": 1, "name": "asn", "epoch": 5, "seq": 3, "revisions": {}, "change": {"epoch": 5, "seq": 3, "why": "unrecorded"}}`, "plan", "asn"); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the plan is there", func() bool { _, err := s.Plan("asn"); return err == nil })
	check := func(want string) {
		t.Helper()
		got := ""
		history, err := s.History(t.Context(), "asn", "", 0)
		for _, c := range history {
			got += c.Why + " "
		}
		if err != nil || got != want {
			t.Errorf("the history is %q, want %q: %v", got, want, err)
		}
	}
	check("unrecorded ")
	l := newLedger()
	if err := errors.Join(l.change(t.Context(), s, "asn", "second"), l.ended["second"]); err != nil {
		t.Fatal(err)
	}
	check("second unrecorded ")
}

// A node that was away for long, or whose stream was set back, reads all again.
func TestReadingAgainForgetsWhatIsGone(t *testing.T) {
	dir := t.TempDir()
	s := open(t, store.Options{Dir: dir})
	plan := publish(t, s, "asn", "r1", "one")
	for _, id := range []string{"t1", "t2"} {
		if err := errors.Join(s.PutToken(t.Context(), store.Secret{Token: fleet.Token{ID: id}}), s.Report(t.Context(), "asn", fleet.Report{ID: id})); err != nil {
			t.Fatal(err)
		}
	}
	for _, one := range []struct {
		lost                              string
		plans, revisions, tokens, reports int
	}{{"nothing", 1, 1, 2, 2}, {"revision", 1, 0, 2, 2}, {"token", 1, 0, 0, 2}, {"report", 1, 0, 0, 0}, {"plan", 1, 0, 0, 0}} {
		if err := s.ReadAgain(t.Context(), one.lost); err != nil {
			t.Fatal(err)
		}
		revisions, _ := s.Revisions(t.Context(), "asn")
		if names, tokens, reports := s.Names(), s.Tokens(), s.Reports("asn"); len(names) != one.plans || len(revisions) != one.revisions || len(tokens) != one.tokens || len(reports) != one.reports {
			t.Errorf("without %s there are %v, %v, %v, %v", one.lost, names, revisions, tokens, reports)
		}
	}
	if got, err := s.Plan("asn"); err != nil || got.Version() != plan.Version() {
		t.Errorf("a plan that is lost is %v, %v", got, err)
	}
	if checked, damaged, err := s.Verify(t.Context(), "asn"); err != nil || checked != 1 || len(damaged) != 1 || !strings.Contains(damaged[0], "r1: the plan names it") {
		t.Errorf("Verify checked %d and found %q, %v", checked, damaged, err)
	}
	wantNothing(t, s, dir, 1, 0)
	if next, err := s.Change(t.Context(), "asn", plan.Version(), "test", func(*fleet.Plan, *fleet.Change) error { return nil }); err != nil || next.Epoch <= plan.Epoch || next.Stable != "r1" {
		t.Errorf("the next plan is %+v, %v", next, err)
	}
}

func TestEpochsGrow(t *testing.T) {
	now := time.Now()
	for i := range 1000 {
		above := rand.Uint64N(store.MaxEpoch - 1<<21)
		if i%2 == 0 {
			above = uint64(now.Unix())<<20 | rand.Uint64N(1<<20)
		}
		epoch, err := store.NewEpoch(now, above)
		if err != nil || epoch <= above || epoch > store.MaxEpoch {
			t.Fatalf("the epoch after %d is %d, %v", above, epoch, err)
		}
		text, err := json.Marshal(float64(epoch)) // as other languages have it
		if err != nil || !strings.HasPrefix(string(text), fmt.Sprint(epoch)) {
			t.Fatalf("epoch %d is %s as a float", epoch, text)
		}
	}
	if _, err := store.NewEpoch(now, store.MaxEpoch); err == nil {
		t.Error("there is an epoch above the highest one")
	}
}
