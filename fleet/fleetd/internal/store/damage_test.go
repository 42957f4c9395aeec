package store_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/poolswap/poolswap/fleet"
	"github.com/poolswap/poolswap/fleet/fleetd/internal/store"
)

func TestADamagedPlanStopsNoOtherName(t *testing.T) {
	o := store.Options{Dir: t.TempDir()}
	s := open(t, o)
	good := publish(t, s, "good", "r1", "one")
	damages := map[string]string{
		"no JSON":     "\x00\xff",
		"huge":        strings.Repeat("x", 900_000),
		"no format":   `{"name": "no format", "epoch": 5, "seq": 1, "revisions": {}}`,
		"of another":  `{"format": 1, "name": "good", "epoch": 5, "seq": 1, "revisions": {}}`,
		"no seq":      `{"format": 1, "name": "no seq", "epoch": 5, "revisions": {}}`,
		"undescribed": `{"format": 1, "name": "undescribed", "epoch": 5, "seq": 1, "stable": "gone", "revisions": {}}`,
	}
	for name, text := range damages {
		publish(t, s, name, "r1", "before")
		publish(t, s, name, "r2", "second")
		if err := s.Inject(t.Context(), text, "plan", name); err != nil {
			t.Fatal(err)
		}
	}
	check := func() {
		t.Helper()
		for name := range damages {
			eventually(t, "the damage is noticed", func() bool { _, err := s.Plan(name); return err != nil })
			_, err := s.Plan(name)
			if errors.Is(err, fleet.ErrNoPlan) || errors.Is(err, store.ErrUnavailable) || !strings.HasPrefix(err.Error(), name+": ") || !strings.Contains(err.Error(), "damaged") {
				t.Errorf("Plan: %v", err)
			}
			if _, err := tryPublish(t.Context(), s, name, "", "r1"); err == nil || !strings.Contains(err.Error(), "damaged") {
				t.Errorf("%s: Change: %v", name, err)
			}
			if gone, err := s.Retain(t.Context(), name, 0, 0); err == nil || len(gone) > 0 {
				t.Errorf("%s: Retain removed %v, %v", name, gone, err)
			}
			if history, err := s.History(t.Context(), name, "", 10); err != nil || len(history) != 2 {
				t.Errorf("%s: History: %v, %v", name, history, err)
			}
		}
		if plan, err := s.Plan("good"); err != nil || plan.Version() != good.Version() {
			t.Errorf("the good plan is %v, %v", plan, err)
		}
		if names := s.Names(); len(names) != len(damages)+1 {
			t.Errorf("the names are %q", names)
		}
	}
	check()
	s.Close()
	s = open(t, o)
	check()

	for name := range damages {
		before, _ := s.History(t.Context(), name, "", 1)
		if _, err := s.Repair(t.Context(), name, "ann", "", "because"); err == nil || !strings.Contains(err.Error(), "needs a revision") {
			t.Errorf("Repair without a revision: %v", err)
		}
		if _, err := s.Repair(t.Context(), name, "ann", "unknown", "because"); !errors.Is(err, store.ErrNotFound) || strings.Count(err.Error(), name+": ") != 1 {
			t.Errorf("Repair with an unknown revision: %v", err)
		}
		plan, err := s.Repair(t.Context(), name, "ann", "r1", "because")
		if err != nil || plan.Stable != "r1" || plan.Epoch <= before[0].Epoch || plan.Seq != 1 || plan.Change.Kind != fleet.KindRepair || plan.Change.Why != "because" {
			t.Errorf("the repaired plan is %+v, %v", plan, err)
			continue
		}
		if got, err := s.Plan(name); err != nil || got.Version() != plan.Version() {
			t.Errorf("after the repair Plan returns %v, %v", got, err)
		}
		wantContent(t, s, name, plan.Revisions["r1"], "before")
		// Its seq is below those of the epoch before.
		if history, err := s.History(t.Context(), name, "", 1); err != nil || len(history) != 1 || history[0].Kind != fleet.KindRepair {
			t.Errorf("the newest change is %+v, %v", history, err)
		}
		if history, err := s.History(t.Context(), name, plan.Version(), 10); err != nil || len(history) != 2 || history[0].Seq != 2 {
			t.Errorf("before the repair, the history is %+v, %v", history, err)
		}
	}
	if _, err := s.Repair(t.Context(), "good", "ann", "r1", ""); !errors.Is(err, store.ErrRefused) {
		t.Errorf("Repair of a good plan: %v", err)
	}
	if _, err := s.Repair(t.Context(), "none", "ann", "r1", ""); !errors.Is(err, fleet.ErrNoPlan) {
		t.Errorf("Repair of no plan: %v", err)
	}
}

func TestOtherDamagedValues(t *testing.T) {
	s := open(t, store.Options{Dir: t.TempDir()})
	plan := publish(t, s, "asn", "r1", "one")
	for _, at := range [][]string{{"revision", "asn", "r2"}, {"token", "t"}, {"report", "asn", "a"}, {"report", "asn", "b"}} {
		value := "}"
		if at[0] == "report" && at[2] == "b" {
			value = `{"id": "a"}`
		}
		if err := s.Inject(t.Context(), value, at[0], at[1:]...); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Report(t.Context(), "asn", fleet.Report{ID: "c"}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the good report is there", func() bool { return len(s.Reports("asn")) > 0 })
	if reports := s.Reports("asn"); len(reports) != 1 || reports[0].ID != "c" {
		t.Errorf("the reports are %+v", reports)
	}
	if _, ok := s.Token("t"); ok || len(s.Tokens()) > 0 {
		t.Error("a damaged token is good")
	}
	if revisions, err := s.Revisions(t.Context(), "asn"); err != nil || len(revisions) != 1 {
		t.Errorf("the revisions are %v, %v", revisions, err)
	}
	if _, err := s.Claim(t.Context(), "asn", "r2"); err == nil || !strings.Contains(err.Error(), `"r2" is damaged`) {
		t.Errorf("Claim of a damaged revision: %v", err)
	}
	checked, damaged, err := s.Verify(t.Context(), "asn")
	if err != nil || checked != 2 || len(damaged) != 1 || !strings.HasPrefix(damaged[0], "r2: ") {
		t.Errorf("Verify checked %d and found %q, %v", checked, damaged, err)
	}
	wantContent(t, s, "asn", plan.Revisions["r1"], "one")
}

// A store that is copied back has plans of yesterday. Replicas have later ones.
func TestReplicasAreAheadOfAStoreThatWasCopiedBack(t *testing.T) {
	o := store.Options{Dir: t.TempDir()}
	s := open(t, o)
	put(t, s, "asn", "r1", "one")
	publish(t, s, "asn", "r2", "two")
	yesterday := t.TempDir()
	copyDir(t, yesterday, o.Dir)
	last, err := tryPublish(t.Context(), s, "asn", "", "r1")
	if err != nil {
		t.Fatal(err)
	}
	s.Close()

	o.Dir = yesterday
	s = open(t, o)
	later := last.Epoch + 3600<<20 // by a server whose clock was ahead
	for id, r := range map[string]fleet.Report{
		"ahead":  {Epoch: last.Epoch, Seq: last.Seq},
		"epoch":  {Epoch: later, Seq: 1},
		"same":   {Epoch: last.Epoch, Seq: last.Seq - 1},
		"insane": {Epoch: uint64(time.Now().Add(48*time.Hour).Unix()) << 20},
	} {
		r.ID = id
		if err := s.Report(t.Context(), "asn", r); err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, "two replicas are ahead", func() bool { return fmt.Sprint(s.Ahead("asn")) == "[ahead epoch]" })
	plan, err := s.Repair(t.Context(), "asn", "fleetd", "", "replicas are ahead")
	if err != nil || plan.Epoch <= later || plan.Epoch > uint64(time.Now().Add(24*time.Hour).Unix())<<20 || plan.Stable != "r2" || plan.Seq != 2 {
		t.Errorf("the plan of the new epoch is %+v, %v", plan, err)
	}
	if ahead := s.Ahead("asn"); len(ahead) > 0 {
		t.Errorf("ahead are still %q", ahead)
	}
}

// A majority of nodes that was copied back must not set back this one.
func TestAPlanIsNeverOlderThanBefore(t *testing.T) {
	s := open(t, store.Options{Dir: t.TempDir()})
	put(t, s, "asn", "r1", "one")
	publish(t, s, "asn", "r2", "two")
	old, err := s.Stored(t.Context(), "plan", "asn")
	if err != nil {
		t.Fatal(err)
	}
	last, err := tryPublish(t.Context(), s, "asn", "", "r1")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Inject(t.Context(), old, "plan", "asn"); err != nil {
		t.Fatal(err)
	}
	if err := s.Inject(t.Context(), "}", "plan", "other"); err != nil { // is taken after the old one
		t.Fatal(err)
	}
	eventually(t, "the node has taken the old plan", func() bool { _, err := s.Plan("other"); return !errors.Is(err, fleet.ErrNoPlan) })
	if plan, err := s.Plan("asn"); err != nil || plan.Version() != last.Version() {
		t.Errorf("the plan is %s, and was %s: %v", plan.Version(), last.Version(), err)
	}
	next, err := tryPublish(t.Context(), s, "asn", last.Version(), "r2")
	if err != nil || next.Epoch <= last.Epoch || next.Previous != "r1" {
		t.Errorf("the next plan is %+v, %v", next, err)
	}
}
