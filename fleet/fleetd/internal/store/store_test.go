package store_test

import (
	"errors"
	"testing"

	"github.com/poolswap/poolswap/fleet"
	"github.com/poolswap/poolswap/fleet/fleetd/internal/store"
)

func TestStoreSurvivesRestart(t *testing.T) {
	o := store.Options{Dir: t.TempDir()}
	s := open(t, o)
	if _, err := s.Plan("asn"); !errors.Is(err, fleet.ErrNoPlan) {
		t.Errorf("Plan of an unknown name: %v", err)
	}
	first := publish(t, s, "asn", "r1", large(1))
	second := publish(t, s, "asn", "r2", "two")
	if second.Seq != 2 || second.Epoch != first.Epoch || second.Change.By != "test" || second.Revisions["r1"].Size != 800_000 {
		t.Errorf("the second plan is %+v", second)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = open(t, o)
	plan, err := s.Plan("asn")
	if err != nil || plan.Version() != second.Version() || plan.Stable != "r2" || plan.Previous != "r1" {
		t.Fatalf("the plan is %+v, %v", plan, err)
	}
	wantContent(t, s, "asn", plan.Revisions["r1"], large(1))
	history, err := s.History(t.Context(), "asn", "", 10)
	if err != nil || len(history) != 2 || history[0].Seq != 2 || history[1].To != "r1" {
		t.Errorf("the history is %+v, %v", history, err)
	}
}
