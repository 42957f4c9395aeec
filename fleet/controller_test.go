package fleet_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/poolswap/poolswap/fleet"
)

func TestStatusPages(t *testing.T) {
	s := newServer()
	f := must(fleet.NewController(client(t, s), "asn"))
	if status, err := f.Status(t.Context()); err != nil || status.Plan != nil {
		t.Errorf("without a plan Status returned %+v and %v", status, err)
	}
	s.publish("one", []byte("one"))
	for i := range 10 {
		s.reports[fmt.Sprintf("r%d", i)] = fleet.Report{ID: fmt.Sprintf("r%d", i)}
	}
	status, err := f.Status(t.Context())
	if err != nil || len(status.Replicas) != 10 || status.Replicas[9].ID != "r9" || status.Next != "" || status.Plan.Stable != "one" {
		t.Errorf("Status returned %+v and %v", status, err)
	}
	s.on(func(w http.ResponseWriter, r *http.Request) bool {
		reply(w, 200, fleet.Status{Next: "r5"})
		return true
	})
	if _, err := f.Status(t.Context()); err == nil || !strings.Contains(err.Error(), "do not end") {
		t.Errorf("pages without an end: %v", err)
	}
}

func TestStates(t *testing.T) {
	now := time.Unix(1e9, 0)
	plan := &fleet.Plan{Stable: "a", Revisions: map[string]fleet.Revision{"a": {ID: "a"}}}
	for _, c := range []struct {
		revision, err string
		age           time.Duration // of a report each 30 s
		want          fleet.State
	}{
		{"a", "", 0, fleet.Running},
		{"a", "", time.Minute, fleet.Running},
		{"a", "", 66 * time.Second, fleet.Silent}, // two are overdue
		{"b", "", 0, fleet.Waiting},
		{"b", "refused", 0, fleet.Failing},
		{"", "", 0, fleet.Empty},
	} {
		r := fleet.Report{ID: "r", Every: 30 * time.Second, Received: now.Add(-c.age), Revision: c.revision, Error: c.err}
		if got := r.State(plan, now); got != c.want {
			t.Errorf("%+v is %s", c, got)
		}
	}
}

func TestControllerRefuses(t *testing.T) {
	s := newServer()
	s.publish("one", []byte("one"))
	f := must(fleet.NewController(client(t, s), "asn"))
	before := len(s.all())
	for name, err := range map[string]error{
		"needs a revision": second(f.Canary(t.Context(), "", fleet.Selection{Share: 0.5}, "")),
		"from 0 to 1":      second(f.Canary(t.Context(), "one", fleet.Selection{Share: 1.5}, "")),
		"ids, or a share":  second(f.Canary(t.Context(), "one", fleet.Selection{}, "")),
		"only publish has": second(f.Do(t.Context(), fleet.Operation{Kind: fleet.KindRollback, Previous: "one"})),
		"steps":            second(f.Rollout(t.Context(), "one", nil, time.Minute, "")),
		"watched":          second(f.Rollout(t.Context(), "one", []float64{0.5}, 0, "")),
		"is empty":         second(f.Unpin(t.Context(), "", "")),
		"reason":           second(f.Pause(t.Context(), strings.Repeat("x", 2000))),
	} {
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: the error is %v", name, err)
		}
	}
	for _, request := range s.all()[before:] {
		if !strings.HasPrefix(request, "GET") {
			t.Errorf("a change that cannot be led to %s", request)
		}
	}
	if _, err := f.At(1, 0).Pause(t.Context(), ""); !errors.Is(err, fleet.ErrConflict) {
		t.Errorf("At another plan: %v", err)
	}
	if plan, err := f.At(1, 1).Pause(t.Context(), ""); err != nil || !plan.Paused {
		t.Errorf("At the plan: %v", err)
	}
	if _, err := f.At(0, 0).Do(t.Context(), fleet.Operation{Kind: fleet.KindPublish, Revision: "one"}); !errors.Is(err, fleet.ErrConflict) {
		t.Errorf("At no plan, although there is one: %v", err)
	}
}

// TestAwait lets replicas report step by step.
func TestAwait(t *testing.T) {
	rollout := &fleet.Rollout{Steps: []float64{0.5, 1}}
	canary := &fleet.Canary{Revision: "two", Selection: fleet.Selection{Share: 1}}
	report := func(s *server, id, revision string, change func(r *fleet.Report)) {
		s.mu.Lock()
		defer s.mu.Unlock()
		r := fleet.Report{ID: id, Revision: revision, Every: 30 * time.Second, Epoch: 1, Seq: s.plan.Seq, Received: time.Now()}
		if change != nil {
			change(&r)
		}
		s.reports[id] = r
	}
	for _, c := range []struct {
		name    string
		rollout bool
		then    func(s *server)
		want    string // of the error
	}{
		{"all run it", false, func(s *server) { report(s, "r1", "two", nil); report(s, "r2", "two", nil) }, ""},
		{"a silent one does not", false, func(s *server) {
			report(s, "r1", "two", nil)
			report(s, "r2", "one", func(r *fleet.Report) { r.Received = time.Now().Add(-time.Hour) })
		}, ""},
		{"one runs it and may not know the plan", false, func(s *server) {
			report(s, "r1", "two", nil)
			report(s, "r2", "two", func(r *fleet.Report) { r.Seq = 1 })
		}, "do not run it yet: r2"},
		{"one lags", false, func(s *server) { report(s, "r1", "two", nil) }, "do not run it yet: r2"},
		{"one refuses", false, func(s *server) { report(s, "r1", "one", func(r *fleet.Report) { r.Failed, r.Error = "two", "bad" }) }, `r1 has refused revision "two": bad`},
		{"none reports", false, func(s *server) { s.with(func() { clear(s.reports) }) }, "no replica reports"},
		{"another change", false, func(s *server) { s.set(fleet.KindPin, func(*fleet.Plan) {}) }, "pin by ann made plan 1.3"},
		{"a pause", false, func(s *server) { s.set(fleet.KindPause, func(next *fleet.Plan) { next.Paused = true }) }, "changed meanwhile"},
		{"the server is away", false, func(s *server) {
			s.on(func(w http.ResponseWriter, _ *http.Request) bool { refuse(w, 500, "internal", "oh"); return true })
		}, "oh"},
		{"the name is gone", false, func(s *server) { s.with(func() { s.plan = nil }) }, "nothing was published"},
		{"the rollout ends", true, func(s *server) {
			s.set(fleet.KindWiden, func(next *fleet.Plan) { next.Rollout = &fleet.Rollout{Step: 1} })
			time.Sleep(time.Minute)
			s.set(fleet.KindPromote, func(next *fleet.Plan) { next.Rollout, next.Canary, next.Stable = nil, nil, "two" })
			report(s, "r1", "two", nil)
			report(s, "r2", "two", nil)
		}, ""},
		{"the rollout goes back", true, func(s *server) {
			s.set(fleet.KindRollback, func(next *fleet.Plan) { next.Rollout, next.Canary = nil, nil })
		}, "rollback by ann made plan"},
		{"the server ends the rollout", true, func(s *server) {
			s.set(fleet.KindRollback, func(next *fleet.Plan) {
				next.Rollout, next.Canary = nil, nil
				next.Change.By, next.Change.From, next.Change.Why = "fleetd", "two", "4 % fail"
			})
		}, "the server has ended the rollout: 4 % fail"},
		{"the rollout is held", true, func(s *server) {
			s.set(fleet.KindHold, func(next *fleet.Plan) { next.Canary.Hold = "r1 refused it" })
		}, "on hold: r1 refused it"},
		{"the rollout goes on", true, func(s *server) { report(s, "r1", "two", nil); report(s, "r2", "two", nil) }, "the rollout goes on"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newServer()
				s.publish("one", []byte("one"))
				s.put("two", []byte("two"))
				report(s, "r1", "one", nil)
				report(s, "r2", "one", nil)
				plan := s.set(fleet.KindPublish, func(next *fleet.Plan) {
					next.Stable = "two"
					if c.rollout {
						next.Stable, next.Canary, next.Rollout = "one", canary, rollout
					}
				})
				ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
				defer cancel()
				ended := make(chan error, 1)
				go func() { ended <- second(must(fleet.NewController(client(t, s), "asn")).Await(ctx, plan)) }()
				time.Sleep(10 * time.Second)
				select {
				case err := <-ended:
					t.Fatalf("Await returned %v before any replica has swapped", err)
				default:
				}
				c.then(s)
				for range 5 * 60 { // the others go on to report
					time.Sleep(time.Second)
					s.mu.Lock()
					for id, r := range s.reports {
						if time.Since(r.Received) < time.Minute {
							r.Received = time.Now()
							s.reports[id] = r
						}
					}
					s.mu.Unlock()
				}
				if err := <-ended; (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
					t.Errorf("Await returned %v, want %q", err, c.want)
				}
			})
		})
	}
}

func TestAdmin(t *testing.T) {
	s := newServer()
	s.put("one", []byte("one"))
	c := client(t, s)
	step := func(err error, want string) {
		t.Helper()
		all := s.all()
		if request := all[len(all)-1]; err != nil || request != want {
			t.Errorf("the request was %s (%v), want %s", request, err, want)
		}
	}
	names, err := c.Names(t.Context())
	step(err, "GET /v1/names")
	made, err := c.NewToken(t.Context(), fleet.Token{Name: "bob", Role: fleet.ReaderRole})
	step(err, "POST /v1/tokens")
	tokens, err := c.Tokens(t.Context())
	step(err, "GET /v1/tokens")
	step(c.RevokeToken(t.Context(), "t1"), "DELETE /v1/tokens/t1")
	checked, damaged, err := c.Verify(t.Context(), "a/b c")
	step(err, "POST /v1/names/a%2Fb%20c/verify")
	plan, err := c.Repair(t.Context(), "a/b c", "one", "why")
	step(err, "POST /v1/names/a%2Fb%20c/repair")
	step(c.RemoveName(t.Context(), "a/b c", "a typo"), "DELETE /v1/names/a%2Fb%20c?why=a+typo")
	if got := fmt.Sprintf("%v %d %s %d %v %d", names, len(tokens), made.Text, checked, damaged, plan.Epoch); got != "[asn] 1 pst_t1_text 1 [] 2" {
		t.Errorf("the results are %s", got)
	}
}
