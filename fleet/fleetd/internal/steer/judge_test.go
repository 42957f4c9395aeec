package steer

import (
	"slices"
	"testing"
	"time"

	"github.com/poolswap/poolswap/fleet"
)

// alike returns n replicas with the same counts.
func alike(n int, t tally) (all []tally) {
	for range n {
		all = append(all, t)
	}
	return all
}

func TestMoreErrorsHoldsWithoutAnyReplica(t *testing.T) {
	const alpha = 1e-4
	good, bad := tally{1000, 10}, tally{1000, 100}
	for _, test := range []struct {
		name        string
		trial, base []tally
		worse       bool
	}{
		{"both sides alike", alike(10, good), alike(90, good), false},
		{"each replica of the step is bad", alike(10, bad), alike(90, good), true},
		{"each replica of both sides is bad", alike(10, bad), alike(90, bad), false},
		{"one replica of the step is bad", append(alike(9, good), bad), alike(90, good), false},
		{"two replicas of the step are bad", append(alike(8, good), bad, bad), alike(90, good), true},
		{"one of the others hides the errors of both sides", alike(10, bad), append(alike(4, bad), tally{10000, 0}), false},
		{"errors a tenth more often", alike(10, tally{1000, 11}), alike(90, good), false},
		{"no errors at all", alike(10, tally{1000, 0}), alike(90, tally{1000, 0}), false},
		{"one replica alone", alike(1, bad), alike(90, good), false},
	} {
		if why := moreErrors(test.trial, test.base, alpha); (why != "") != test.worse {
			t.Errorf("%s: %q", test.name, why)
		}
	}
}

func TestSlowerHoldsWithoutAnyReplica(t *testing.T) {
	var base, trial []float64
	for i := range 40 {
		base = append(base, 100+float64(i)/100)
	}
	for i := range 6 {
		trial = append(trial, 200+float64(i)/100)
	}
	alphaOf := func(trial, base []float64) (alpha float64) { // about the least that finds trial slower
		for alpha = 1e-12; slower(trial, base, alpha) == ""; alpha *= 1.5 {
			if alpha > 1 {
				t.Fatal("it is not slower at any level")
			}
		}
		return alpha
	}
	all := alphaOf(trial, base)
	if all > 0.001 {
		t.Fatalf("six replicas that take twice as long are slower at level %g", all)
	}
	// A liar that makes a sixth replica of five adds nothing.
	liar := append(append([]float64(nil), trial[:5]...), 1e18)
	if with := alphaOf(liar, base); with < all/2 {
		t.Errorf("a liar made level %g of %g", with, all)
	}
	// At level 0.99 one replica above one other is enough, unless it is left out.
	if why := slower(append(alike64(3, 100), 1e18), alike64(4, 100), 0.99); why != "" {
		t.Errorf("a liar in the step: %s", why)
	}
	if why := slower(alike64(4, 100), append(alike64(3, 100), 1), 0.99); why != "" {
		t.Errorf("a liar among the others: %s", why)
	}
	if why := slower(alike64(4, 200), append(alike64(3, 100), 1), 0.99); why == "" {
		t.Error("four replicas that take twice as long are not slower at level 0.99")
	}
	if why := slower(alike64(3, 1000), base, 0.5); why != "" {
		t.Errorf("three replicas: %s", why)
	}
}

func alike64(n int, value float64) (all []float64) {
	for i := range n {
		all = append(all, value+float64(i)/1e6)
	}
	return all
}

func TestJudgeSpendsItsChanceOnce(t *testing.T) {
	j := judge{alpha: 1e-4}
	sum, last := 0.0, 1.0
	for range 1_000_000 {
		alpha := j.spend()
		if alpha >= last {
			t.Fatalf("look %d may take %g, and the one before %g", j.looks, alpha, last)
		}
		sum, last = sum+alpha, alpha
	}
	if sum > j.alpha || sum < 0.99*j.alpha {
		t.Errorf("all looks together take %g of %g", sum, j.alpha)
	}
}

// One replica with very many good requests must not hide that the others fail.
func TestOneReplicaHidesNoBadRelease(t *testing.T) {
	w := newWorld(t, 1, 1000, 0.05, 0.25, 1)
	w.rate = func(revision string) float64 { return map[string]float64{"old": 0.01, "new": 0.02}[revision] }
	liar := w.replicas[slices.IndexFunc(w.replicas, func(r fleet.Report) bool { return w.plan.Canary.Includes("new", r.ID, nil) })].ID
	w.lie = func(r *fleet.Report) {
		if r.ID == liar {
			r.Health = &fleet.Health{Requests: uint64(w.now.Unix()) * 1e9}
		}
	}
	w.drive(w.driver(), 1000)
	if stable, ended := w.ended(); !ended || stable != "old" {
		t.Errorf("%s is stable", stable)
	}
}

// A replica that restarts counts from 0 again, and has another Since.
func TestJudgeOfCountsThatFall(t *testing.T) {
	p := planOf(t, []fleet.Report{running("r", "a")}, publish("a"), fleet.Operation{Kind: fleet.KindRollout, Revision: "b", Steps: []float64{0.5}, Bake: time.Minute})
	now := time.Unix(1e9, 0)
	reports := func(requests, errors uint64, since int64) (all []fleet.Report) {
		now = now.Add(time.Minute)
		for i := range 40 {
			r := fleet.Report{ID: string(rune('A' + i)), Every: time.Second, Received: now, Since: time.Unix(since, 0), Revision: "a", Health: &fleet.Health{Requests: 1e6, Errors: 1e4}}
			if p.Canary.Includes("b", r.ID, nil) {
				r.Revision, r.Health = "b", &fleet.Health{Requests: requests, Errors: errors}
			}
			all = append(all, r)
		}
		return all
	}
	j := newJudge(p)
	if why := j.look(p, reports(1e6, 1e4, 1)); why != "" {
		t.Errorf("the first look: %s", why)
	}
	if why := j.look(p, reports(1e5, 5e4, 1)); why != "" {
		t.Errorf("counts that fell: %s", why)
	}
	// The others stand still, so nothing is known of them.
	if why := j.look(p, reports(2e6, 1e6, 1)); why != "" {
		t.Errorf("without the others: %s", why)
	}
}

// Others that still run a revision of before, which fails, must not hide that the step
// does worse than the stable one.
func TestOlderRevisionsHideNoBadRelease(t *testing.T) {
	w := newWorld(t, 1, 1000, 0.05, 0.25, 1)
	w.rate = func(revision string) float64 { return map[string]float64{"old": 0.01, "new": 0.02}[revision] }
	w.lie = func(r *fleet.Report) {
		if fleet.Rank("new", r.ID) > 0.6 {
			now := uint64(w.now.Unix())
			r.Revision, r.Since, r.Health = "older", time.Unix(1, 0), &fleet.Health{Requests: 10 * now, Errors: now}
		}
	}
	w.drive(w.driver(), 20)
	if stable, ended := w.ended(); !ended || stable != "old" || w.reached > 0.075 {
		t.Errorf("%s is stable, and the new revision reached %g: %s", stable, w.reached, w.plan.Change.Why)
	}
}

// One of the others whose requests all fail must not hide that those of the step do.
func TestOneReplicaThatFailsHidesNoBadRelease(t *testing.T) {
	for _, test := range []struct {
		replicas   int
		step, rate float64
	}{{1000, 0.05, 0.02}, {30, 0.2, 0.2}} {
		w := newWorld(t, 1, test.replicas, test.step, 0.25, 1)
		w.rate = func(revision string) float64 { return map[string]float64{"old": 0.01, "new": test.rate}[revision] }
		liar := w.replicas[slices.IndexFunc(w.replicas, func(r fleet.Report) bool { return !w.plan.Canary.Includes("new", r.ID, nil) })].ID
		w.lie = func(r *fleet.Report) {
			if r.ID == liar {
				lies["all its requests fail"](r, uint64(w.now.Unix()))
			}
		}
		w.drive(w.driver(), 1000)
		if stable, ended := w.ended(); !ended || stable != "old" {
			t.Errorf("%d replicas: %s is stable", test.replicas, stable)
		}
	}
}
