package page_test

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/poolswap/poolswap/fleet"
	"github.com/poolswap/poolswap/fleet/fleetd/internal/page"
)

func TestOperationsAreDoneAndRecorded(t *testing.T) {
	s := newSite(t, nil)
	one := s.publish("asn", "one")
	two := s.publish("asn", "two")
	eu := map[string]string{"region": "eu"}
	s.report("asn", fleet.Report{ID: "a", Revision: two, Labels: eu})
	s.report("asn", fleet.Report{ID: "b", Revision: two})
	v := s.operator("ann")
	for _, c := range []struct {
		do   string
		form url.Values
		done func(p *fleet.Plan) bool
		says string
	}{
		{"pause", nil, func(p *fleet.Plan) bool { return p.Paused }, "ann paused"},
		{"resume", nil, func(p *fleet.Plan) bool { return !p.Paused }, "ann resumed"},
		{
			"canary",
			url.Values{"revision": {one}, "percent": {" 12,5%"}, "labels": {""}},
			nil, "",
		},
		{
			"canary",
			url.Values{"revision": {one}, "percent": {"12.5 %"}, "labels": {"region = eu"}, "ids": {" c, d "}},
			func(p *fleet.Plan) bool {
				c := p.Canary
				return c.Revision == one && c.Share == 0.125 && c.Labels["region"] == "eu" && len(c.Labels) == 1 && slices.Contains(c.IDs, "c") && slices.Contains(c.IDs, "d")
			},
			"12.5 % of the replicas with region=eu, and c, d",
		},
		{"rollback", url.Values{"ends": {one}}, func(p *fleet.Plan) bool { return p.Canary == nil && p.Stable == two }, "ann rolled back"},
		{"canary", url.Values{"revision": {one}, "percent": {""}, "ids": {"a"}}, func(p *fleet.Plan) bool { return p.Canary.Share == 0 && len(p.Canary.IDs) == 1 }, "A canary gives"},
		{"promote", nil, func(p *fleet.Plan) bool { return p.Stable == one && p.Canary == nil }, "ann promoted the canary"},
		{"rollback", url.Values{"revision": {two}}, func(p *fleet.Plan) bool { return p.Stable == two }, "ann rolled back"},
		{
			"rollout",
			url.Values{"revision": {one}, "steps": {"1, 10%, 50"}, "bake": {"2.5"}},
			func(p *fleet.Plan) bool {
				r := p.Rollout
				return r != nil && slices.Equal(r.Steps, []float64{0.01, 0.1, 0.5, 1}) && r.Step == 0 && r.Bake == 150*time.Second && r.By == "ann"
			},
			"A rollout is at step 1 of 4.",
		},
		{"rollback", url.Values{"ends": {one}}, func(p *fleet.Plan) bool { return p.Rollout == nil && p.Stable == two }, "ann rolled back"},
		{"pin", url.Values{"id": {"a "}, "revision": {one}}, func(p *fleet.Plan) bool { return p.Pins["a"] == one }, "a is pinned to"},
		{"unpin", url.Values{"id": {"a"}}, func(p *fleet.Plan) bool { return len(p.Pins) == 0 }, "ann ended a pin"},
	} {
		if c.do == "promote" {
			s.report("asn", fleet.Report{ID: "a", Revision: one, Labels: eu})
		}
		before := s.plan("asn")
		a := v.steers("asn", before, c.do, c.form)
		if c.done == nil {
			if a.StatusCode != http.StatusBadRequest || s.plan("asn").Seq != before.Seq {
				t.Errorf("%s %v is answered with %d", c.do, c.form, a.StatusCode)
			}
			continue
		}
		if a.StatusCode != http.StatusSeeOther || a.Header.Get("Location") != "/fleet?name=asn" {
			t.Fatalf("%s: %d, %s", c.do, a.StatusCode, a.text)
		}
		if p := s.plan("asn"); !c.done(p) || p.Change.By != "ann" || p.Change.Why != "reason of "+c.do || string(p.Change.Kind) != c.do {
			t.Errorf("%s: the plan is %+v", c.do, p)
		}
		wantTexts(t, v.get("/fleet?name=asn").text, "reason of "+c.do, c.says)
		wantTexts(t, s.log.String(), "by=ann", "kind="+c.do, `why="reason of `+c.do)
	}
}

func TestOldFormsAreConflicts(t *testing.T) {
	s := newSite(t, nil)
	one := s.publish("asn", "one")
	two := s.publish("asn", "two")
	s.report("asn", fleet.Report{ID: "a", Revision: two})
	ann, bob := s.operator("ann"), s.operator("bob")
	s.change("asn", "test", fleet.Operation{Kind: fleet.KindPin, ID: "b", Revision: one})
	shown := s.plan("asn")
	if a := bob.steers("asn", shown, "pause", nil); a.StatusCode != http.StatusSeeOther {
		t.Fatalf("%d: %s", a.StatusCode, a.text)
	}
	for do, form := range map[string]url.Values{
		"resume": nil, "canary": {"revision": {one}, "percent": {"50"}}, "rollout": {"revision": {one}, "steps": {"50"}, "bake": {"1"}}, "promote": nil,
		"rollback": {"revision": {one}}, "pin": {"id": {"a"}, "revision": {one}}, "unpin": {"id": {"b"}},
	} {
		if form == nil {
			form = url.Values{}
		}
		form.Set("why", "my own reason")
		a := ann.steers("asn", shown, do, form)
		if a.StatusCode != http.StatusConflict {
			t.Errorf("%s is answered with %d", do, a.StatusCode)
		}
		wantTexts(t, a.text, "The plan was changed meanwhile, so nothing was done.", "is by bob, who paused.", `value="my own reason"`, `value="`+s.plan("asn").Version()+`"`)
	}
	if p := s.plan("asn"); p.Seq != shown.Seq+1 || !p.Paused {
		t.Errorf("the plan is %+v", p)
	}
	if a := ann.steers("asn", &fleet.Plan{Epoch: shown.Epoch + 1, Seq: shown.Seq + 1}, "resume", nil); a.StatusCode != http.StatusConflict {
		t.Errorf("a plan of another epoch is answered with %d", a.StatusCode)
	}
	if a := ann.steers("asn", s.plan("asn"), "resume", nil); a.StatusCode != http.StatusSeeOther {
		t.Errorf("the plan as it is: %d, %s", a.StatusCode, a.text)
	}
}

// A rollout widens while a person decides that it must end. The form ends it all the
// same, and ends no other one.
func TestEndingARolloutOutlivesItsSteps(t *testing.T) {
	s := newSite(t, nil)
	one := s.publish("asn", "one")
	two, three := s.put("asn", "two"), s.put("asn", "three")
	s.report("asn", fleet.Report{ID: "a", Revision: one})
	v := s.operator("ann")
	begin := func(revision string) *fleet.Plan {
		return s.change("asn", "bob", fleet.Operation{Kind: fleet.KindRollout, Revision: revision, Steps: []float64{0.1, 1}, Bake: time.Hour})
	}
	shown := begin(two)
	s.change("asn", "bob", fleet.Operation{Kind: fleet.KindPause})
	if a := v.steers("asn", shown, "rollback", url.Values{"ends": {two}}); a.StatusCode != http.StatusSeeOther {
		t.Fatalf("it is answered with %d: %s", a.StatusCode, a.text)
	}
	if p := s.plan("asn"); p.Canary != nil || p.Stable != one {
		t.Errorf("the plan is %+v", p)
	}
	begin(three)
	if a := v.steers("asn", shown, "rollback", url.Values{"ends": {two}}); a.StatusCode != http.StatusConflict {
		t.Errorf("for another rollout it is answered with %d", a.StatusCode)
	}
	if p := s.plan("asn"); p.Canary == nil || p.Canary.Revision != three {
		t.Errorf("the plan is %+v", p)
	}
}

func TestRefusalsSayWhy(t *testing.T) {
	s := newSite(t, nil)
	one := s.publish("asn", "one")
	v, plan := s.operator("ann"), s.plan("asn")
	two := s.put("asn", "two")
	for _, c := range []struct {
		do   string
		form url.Values
		code int
		says string
	}{
		{"nonsense", nil, http.StatusBadRequest, "That form is not one of this page"},
		{"publish", url.Values{"revision": {two}}, http.StatusBadRequest, "That form is not one of this page"},
		{"pause", url.Values{"plan": nil}, http.StatusBadRequest, "That form is not one of this page"},
		{"pause", url.Values{"plan": {"x"}}, http.StatusConflict, "The plan was changed meanwhile"},
		{"pause", url.Values{"why": {"  "}}, http.StatusBadRequest, "Say why"},
		{"pause", url.Values{"why": {strings.Repeat("x", fleet.MaxWhy+1)}}, http.StatusBadRequest, "more than 1000"},
		{"pause", url.Values{"why": {"\xff"}}, http.StatusBadRequest, "is no text"},
		{"canary", url.Values{"percent": {"0"}, "revision": {two}}, http.StatusBadRequest, "&#34;0&#34; is no share"},
		{"canary", url.Values{"percent": {"NaN"}, "revision": {two}}, http.StatusBadRequest, "is no share"},
		{"canary", url.Values{"percent": {"101"}, "revision": {two}}, http.StatusBadRequest, "is no share"},
		{"canary", url.Values{"percent": {""}, "revision": {two}}, http.StatusBadRequest, "It selects no replica: it needs ids, or a share above 0, which is 100 % for all that have its labels."},
		{"canary", url.Values{"percent": {"5"}, "labels": {"eu"}, "revision": {two}}, http.StatusBadRequest, "&#34;eu&#34; is no label"},
		{"canary", url.Values{"percent": {"10"}, "revision": {one}}, http.StatusUnprocessableEntity, "is stable already"},
		{"canary", url.Values{"percent": {"10"}, "revision": {two}}, http.StatusUnprocessableEntity, "No replica that reports"},
		{"canary", url.Values{"ids": {"a"}, "revision": {"none"}}, http.StatusUnprocessableEntity, "&#34;none&#34;"},
		{"rollout", url.Values{"revision": {two}, "steps": {"10, 5"}, "bake": {"1"}}, http.StatusBadRequest, "grow"},
		{"rollout", url.Values{"revision": {two}, "steps": {"10"}, "bake": {"soon"}}, http.StatusBadRequest, "number of minutes"},
		{"rollout", url.Values{"revision": {two}, "steps": {"10"}, "bake": {"1e5"}}, http.StatusBadRequest, "30 days"},
		{"promote", nil, http.StatusUnprocessableEntity, "It was refused. There is no canary."},
		{"rollback", url.Values{"revision": {""}}, http.StatusUnprocessableEntity, "There is no earlier revision"},
		{"unpin", url.Values{"id": {"a"}}, http.StatusUnprocessableEntity, "is not pinned"},
		{"pin", url.Values{"id": {""}, "revision": {one}}, http.StatusBadRequest, "is empty"},
	} {
		if a := v.steers("asn", plan, c.do, c.form); a.StatusCode != c.code || !strings.Contains(a.text, c.says) {
			_, text, _ := strings.Cut(a.text, "</header>")
			t.Errorf("%s %v is answered with %d, want %d and %q:\n%.500s", c.do, c.form, a.StatusCode, c.code, c.says, text)
		}
	}
	if now := s.plan("asn"); now.Seq != plan.Seq {
		t.Errorf("the plan was changed: %+v", now.Change)
	}
	if a := v.steers("", plan, "pause", nil); a.StatusCode != http.StatusBadRequest {
		t.Errorf("no name is answered with %d", a.StatusCode)
	}
	if a := v.steers("new", plan, "pause", nil); a.StatusCode != http.StatusNotFound && a.StatusCode != http.StatusConflict {
		t.Errorf("a name without a plan is answered with %d: %s", a.StatusCode, a.text)
	}
}

func TestStoreThatIsGoneIsSaid(t *testing.T) {
	s := newSite(t, func(o *page.Options, _ *http.Server) {
		o.Check = func(string) (fleet.Token, error) {
			return fleet.Token{Name: "ann", Role: fleet.AdminRole, Names: "*"}, nil
		}
	})
	s.publish("asn", "one")
	v, plan := s.visitor(), s.plan("asn")
	v.logIn("any")
	if err := s.store.Close(); err != nil {
		t.Fatal(err)
	}
	if a := v.steers("asn", plan, "pause", nil); a.StatusCode != http.StatusServiceUnavailable || !strings.Contains(a.text, "could not store the change in time") {
		t.Errorf("an operation is answered with %d: %s", a.StatusCode, a.text)
	}
}
