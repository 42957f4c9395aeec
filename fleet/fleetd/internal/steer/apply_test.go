package steer

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/poolswap/poolswap/fleet"
)

func revision(id string) fleet.Revision {
	return fleet.Revision{ID: id, Size: 1, SHA256: strings.Repeat("0", 64), Created: time.Unix(1, 0)}
}

// planOf returns a plan as a server has it after some operations, which must succeed.
func planOf(t *testing.T, replicas []fleet.Report, operations ...fleet.Operation) *fleet.Plan {
	t.Helper()
	p := &fleet.Plan{Format: fleet.Format, Name: "n", Epoch: 1}
	for _, op := range operations {
		if err := apply(p, op, replicas); err != nil {
			t.Fatalf("%s %s: %v", op.Kind, op.Revision, err)
		}
	}
	return p
}

// apply applies an operation as a store does.
func apply(p *fleet.Plan, op fleet.Operation, replicas []fleet.Report) error {
	next := p.Clone()
	change := fleet.Change{By: "ann"}
	var r fleet.Revision
	if op.Revision != "" {
		r = revision(op.Revision)
	}
	if err := Apply(next, &change, op, r, replicas); err != nil {
		return err
	}
	next.Seq++
	next.Change = change
	*p = *next
	return nil
}

func publish(id string) fleet.Operation {
	return fleet.Operation{Kind: fleet.KindPublish, Revision: id}
}

func running(id, revision string) fleet.Report {
	return fleet.Report{ID: id, Revision: revision, Epoch: 1, Seq: 1 << 40}
}

func TestRollbackGoesToARevisionThatRan(t *testing.T) {
	for _, test := range []struct {
		name string
		ran  []string // that replicas run while the next one is published, of a, b, c
		want string   // "": refused
	}{
		{"each ran", []string{"a", "b"}, "b"},
		{"the one between could be loaded by no replica", []string{"a", "a"}, "a"},
		{"none ran", []string{"x", "x"}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := planOf(t, nil, publish("a"))
			for i, next := range []string{"b", "c"} {
				if err := apply(p, publish(next), []fleet.Report{running("r", test.ran[i])}); err != nil {
					t.Fatal(err)
				}
			}
			err := apply(p, fleet.Operation{Kind: fleet.KindRollback}, []fleet.Report{running("r", "c")})
			var refused *RefusedError
			if test.want == "" {
				if !errors.As(err, &refused) || p.Stable != "c" {
					t.Fatalf("rollback: %v, stable %s", err, p.Stable)
				}
				return
			}
			if err != nil || p.Stable != test.want {
				t.Fatalf("rollback: %v, stable %s, want %s", err, p.Stable, test.want)
			}
			if err := apply(p, fleet.Operation{Kind: fleet.KindRollback}, nil); !errors.As(err, &refused) {
				t.Errorf("a second rollback went to %s: %v", p.Stable, err)
			}
		})
	}
}

// One that lies about a revision which the others refuse makes it none to go back to.
func TestRollbackToARevisionThatOneReplicaRan(t *testing.T) {
	replicas := []fleet.Report{running("eve", "b")}
	for _, id := range []string{"r1", "r2"} {
		replicas = append(replicas, fleet.Report{ID: id, Revision: "a", Failed: "b", Error: "bad", Epoch: 1, Seq: 2})
	}
	p := planOf(t, []fleet.Report{running("r1", "a"), running("r2", "a")}, publish("a"), publish("b"))
	if err := apply(p, publish("c"), replicas); err != nil || p.Previous != "a" {
		t.Errorf("previous is %q, and error %v", p.Previous, err)
	}
}

func TestRollbackEndsACanaryAndKeepsStable(t *testing.T) {
	replicas := []fleet.Report{running("r1", "b"), running("r2", "b")}
	p := planOf(t, replicas, publish("a"), publish("b"), fleet.Operation{Kind: fleet.KindCanary, Revision: "c", Selection: fleet.Selection{Share: 1}},
		fleet.Operation{Kind: fleet.KindRollback})
	if p.Canary != nil || p.Stable != "b" || p.Change.From != "c" || p.Change.To != "b" {
		t.Errorf("the plan after a rollback of a canary: %+v", p)
	}
	if p.Previous != "" {
		t.Errorf("previous is %q, which no replica ran", p.Previous)
	}
}

func TestCanaryShareIsWidenedToAReplica(t *testing.T) {
	replicas := []fleet.Report{running("r1", "a"), running("r2", "a"), running("eu", "a")}
	replicas[2].Labels = map[string]string{"region": "eu"}
	p := planOf(t, replicas, publish("a"), fleet.Operation{Kind: fleet.KindCanary, Revision: "b", Selection: fleet.Selection{Share: 1e-12}})
	if n := groupOf(p, replicas).members; n != 1 {
		t.Errorf("a tiny share selects %d replicas, want 1", n)
	}
	p = planOf(t, replicas, publish("a"), fleet.Operation{Kind: fleet.KindCanary, Revision: "b", Selection: fleet.Selection{Share: 1e-12, Labels: map[string]string{"region": "eu"}}})
	if len(p.Canary.IDs) != 1 || p.Canary.IDs[0] != "eu" {
		t.Errorf("a tiny share of region=eu selects %v", p.Canary.IDs)
	}
	err := apply(p, fleet.Operation{Kind: fleet.KindCanary, Revision: "c", Selection: fleet.Selection{Share: 1, Labels: map[string]string{"region": "mars"}}}, replicas)
	var refused *RefusedError
	if !errors.As(err, &refused) {
		t.Errorf("a canary without replicas: %v", err)
	}
}

func TestPromoteTakesNineOfTenAndNoRefusal(t *testing.T) {
	var replicas []fleet.Report
	for i := range 20 {
		replicas = append(replicas, running(fmt.Sprint("r", i), "a"))
	}
	base := planOf(t, replicas, publish("a"), fleet.Operation{Kind: fleet.KindCanary, Revision: "b", Selection: fleet.Selection{Share: 1}})
	promoted := func(running int, change func(all []fleet.Report)) error {
		all := append([]fleet.Report(nil), replicas...)
		for i := range all[:running] {
			all[i].Revision = "b"
		}
		if change != nil {
			change(all)
		}
		return apply(base.Clone(), fleet.Operation{Kind: fleet.KindPromote}, all)
	}
	if err := promoted(18, nil); err != nil {
		t.Errorf("18 of 20: %v", err)
	}
	if err := promoted(17, nil); err == nil {
		t.Error("17 of 20 were enough")
	}
	if err := promoted(19, func(all []fleet.Report) { all[19].Failed = "b" }); err == nil {
		t.Error("a replica refuses the canary, and it was promoted")
	}
	if err := promoted(20, func(all []fleet.Report) {
		for i := range all[:5] {
			all[i].Seq = 0 // of before the canary
		}
	}); err == nil {
		t.Error("reports of before the canary counted")
	}
	if err := apply(base.Clone(), fleet.Operation{Kind: fleet.KindPromote}, nil); err == nil {
		t.Error("no replica runs the canary, and it was promoted")
	}
}

func TestOperationsRefused(t *testing.T) {
	replicas := []fleet.Report{running("r1", "a")}
	canary := fleet.Operation{Kind: fleet.KindCanary, Revision: "b", Selection: fleet.Selection{Share: 1}}
	rollout := fleet.Operation{Kind: fleet.KindRollout, Revision: "b", Steps: []float64{0.5}, Bake: time.Minute}
	of := func(id string, op fleet.Operation) fleet.Operation { op.Revision = id; return op }
	for _, test := range []struct {
		name   string
		before []fleet.Operation
		op     fleet.Operation
	}{
		{"canary of the stable revision", nil, of("a", canary)},
		{"rollout of the stable revision", nil, of("a", rollout)},
		{"promotion without a canary", nil, fleet.Operation{Kind: fleet.KindPromote}},
		{"rollback to nothing", nil, fleet.Operation{Kind: fleet.KindRollback}},
		{"end of no pin", nil, fleet.Operation{Kind: fleet.KindUnpin, ID: "r1"}},
		{"second pause", []fleet.Operation{{Kind: fleet.KindPause}}, fleet.Operation{Kind: fleet.KindPause}},
		{"resumption of no pause", nil, fleet.Operation{Kind: fleet.KindResume}},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := planOf(t, replicas, append([]fleet.Operation{publish("a")}, test.before...)...)
			var refused *RefusedError
			if err := apply(p, test.op, replicas); !errors.As(err, &refused) {
				t.Errorf("it is not refused: %v", err)
			}
		})
	}
	if err := apply(&fleet.Plan{Epoch: 1}, canary, replicas); !errors.Is(err, fleet.ErrNoPlan) {
		t.Errorf("a canary before the first publication: %v", err)
	}
	if err := apply(planOf(t, nil, publish("a")), rollout, nil); err == nil {
		t.Error("a rollout without replicas began")
	}
}

func TestPinsAndPause(t *testing.T) {
	p := planOf(t, nil, publish("a"), publish("b"), fleet.Operation{Kind: fleet.KindPin, ID: "r1", Revision: "a"}, fleet.Operation{Kind: fleet.KindPause})
	if p.Wanted("r1", nil).ID != "a" || p.Wanted("r2", nil).ID != "b" || !p.Paused {
		t.Errorf("the plan is %+v", p)
	}
	if err := apply(p, fleet.Operation{Kind: fleet.KindUnpin, ID: "r1"}, nil); err != nil || p.Wanted("r1", nil).ID != "b" || p.Change.From != "a" || p.Change.To != "b" {
		t.Errorf("after the end of the pin: %v, %+v", err, p)
	}
	if err := apply(p, fleet.Operation{Kind: fleet.KindResume}, nil); err != nil || p.Paused {
		t.Errorf("after the pause: %v, %+v", err, p)
	}
}
