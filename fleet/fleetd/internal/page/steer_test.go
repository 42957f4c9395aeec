package page_test

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/poolswap/poolswap/fleet"
)

func TestEachActionIsDoneAndRecorded(t *testing.T) {
	s := newSite(t, nil)
	one := s.publish("asn", "one")
	two := s.publish("asn", "two")
	s.report("asn", "a", two)
	s.report("asn", "b", two)
	v := s.member("alice")
	for _, c := range []struct {
		action string
		form   url.Values
		done   func(p *fleet.Plan) bool
	}{
		{"pause", nil, func(p *fleet.Plan) bool { return p.Paused }},
		{"resume", nil, func(p *fleet.Plan) bool { return !p.Paused }},
		{"canary", url.Values{"revision": {one}, "how": {"share"}, "percent": {"50"}}, func(p *fleet.Plan) bool { return p.Canary == one && len(p.CanaryIDs) == 1 }},
		{"rollback", url.Values{"revision": {""}}, func(p *fleet.Plan) bool { return p.Canary == "" && p.Stable == two }},
		{"canary", url.Values{"revision": {one}, "how": {"ids"}, "id": {"a", "b"}}, func(p *fleet.Plan) bool { return p.Canary == one && len(p.CanaryIDs) == 2 }},
		{"promote", nil, func(p *fleet.Plan) bool { return p.Stable == one && p.Canary == "" }},
		{"rollback", url.Values{"revision": {two}}, func(p *fleet.Plan) bool { return p.Stable == two }},
		{"pin", url.Values{"id": {"a"}, "revision": {one}}, func(p *fleet.Plan) bool { return p.Pins["a"] == one }},
		{"unpin", url.Values{"id": {"a"}}, func(p *fleet.Plan) bool { return len(p.Pins) == 0 }},
	} {
		if c.action == "promote" {
			s.report("asn", "a", one)
		}
		a := v.steers("asn", s.plan("asn"), c.action, c.form)
		if a.StatusCode != http.StatusSeeOther || a.Header.Get("Location") != "/fleet?name=asn" {
			t.Fatalf("%s: %d, %s", c.action, a.StatusCode, a.text)
		}
		if p := s.plan("asn"); !c.done(p) || p.Change.By != "alice" || p.Change.Why != "reason of "+c.action || p.Change.What != c.action {
			t.Errorf("%s: the plan is %+v", c.action, p)
		}
		if text := v.get("/fleet?name=asn").text; !strings.Contains(text, "reason of "+c.action) {
			t.Errorf("%s: the page does not show it", c.action)
		}
	}
}

func TestAnActionOnAnOldPlanIsAConflict(t *testing.T) {
	s := newSite(t, nil)
	s.publish("asn", "one")
	shown := s.plan("asn")
	bob, alice := s.member("bob"), s.member("alice")
	if a := bob.steers("asn", shown, "pause", nil); a.StatusCode != http.StatusSeeOther {
		t.Fatalf("%d: %s", a.StatusCode, a.text)
	}
	a := alice.steers("asn", shown, "resume", url.Values{"why": {"my own reason"}})
	if a.StatusCode != http.StatusConflict {
		t.Errorf("it is answered with %d", a.StatusCode)
	}
	for _, text := range []string{"The plan was changed meanwhile, so nothing was done.", "Plan 2 is by bob, who paused.", `value="my own reason"`, `name="seq" value="2"`} {
		if !strings.Contains(a.text, text) {
			t.Errorf("the answer does not have %q:\n%s", text, a.text)
		}
	}
	if p := s.plan("asn"); p.Seq != 2 || !p.Paused {
		t.Errorf("the plan is %+v", p)
	}
	if a := alice.steers("asn", &fleet.Plan{Epoch: shown.Epoch + 1, Seq: 2}, "resume", nil); a.StatusCode != http.StatusConflict {
		t.Errorf("a plan of another epoch is answered with %d", a.StatusCode)
	}
	if a := alice.steers("asn", s.plan("asn"), "resume", nil); a.StatusCode != http.StatusSeeOther {
		t.Errorf("the plan as it is: %d, %s", a.StatusCode, a.text)
	}
}

// Each form is for the plan that its page showed.
func TestEachActionIsForOnePlan(t *testing.T) {
	s := newSite(t, nil)
	one := s.publish("asn", "one")
	two := s.publish("asn", "two")
	v := s.member("alice")
	steer := func(action string, more url.Values) {
		t.Helper()
		if a := v.steers("asn", s.plan("asn"), action, more); a.StatusCode != http.StatusSeeOther {
			t.Fatalf("%s: %d, %s", action, a.StatusCode, a.text)
		}
	}
	steer("pin", url.Values{"id": {"b"}, "revision": {one}})
	steer("canary", url.Values{"revision": {one}, "how": {"ids"}, "id": {"a"}})
	s.report("asn", "a", one)
	old := s.plan("asn")
	refused := func(action string, more url.Values) {
		t.Helper()
		if a := v.steers("asn", old, action, more); a.StatusCode != http.StatusConflict {
			t.Errorf("%s is answered with %d", action, a.StatusCode)
		}
	}
	steer("pause", nil)
	refused("resume", nil)
	refused("promote", nil)
	refused("canary", url.Values{"revision": {one}, "how": {"share"}, "percent": {"50"}})
	refused("rollback", url.Values{"revision": {""}})
	refused("pin", url.Values{"id": {"a"}, "revision": {two}})
	refused("unpin", url.Values{"id": {"b"}})
	steer("resume", nil)
	refused("pause", nil)
	if p := s.plan("asn"); p.Seq != old.Seq+2 {
		t.Errorf("the plan is %+v", p)
	}
}

func TestARefusalSaysWhy(t *testing.T) {
	s := newSite(t, nil)
	s.publish("asn", "one")
	v, plan := s.member("alice"), s.plan("asn")
	for _, c := range []struct {
		action string
		form   url.Values
		code   int
		says   string
	}{
		{"nonsense", nil, http.StatusBadRequest, "That form is not one of this page."},
		{"pause", url.Values{"seq": {"x"}}, http.StatusBadRequest, "That form is not one of this page."},
		{"pause", url.Values{"why": {"  "}}, http.StatusBadRequest, "Say why"},
		{"pause", url.Values{"why": {strings.Repeat("x", 501)}}, http.StatusBadRequest, "longer than 500 bytes"},
		{"pause", url.Values{"why": {"\xff"}}, http.StatusBadRequest, "or no text"},
		{"canary", url.Values{"how": {"share"}, "percent": {"0"}, "revision": {plan.Stable}}, http.StatusBadRequest, "above 0 and up to 100"},
		{"canary", url.Values{"how": {"share"}, "percent": {"NaN"}}, http.StatusBadRequest, "above 0 and up to 100"},
		{"canary", url.Values{"how": {"ids"}}, http.StatusBadRequest, "Choose the replicas"},
		{"canary", url.Values{"how": {"share"}, "percent": {"10"}, "revision": {plan.Stable}}, http.StatusUnprocessableEntity, "no replica reports"},
		{"canary", url.Values{"how": {"ids"}, "id": {"a"}, "revision": {"none"}}, http.StatusUnprocessableEntity, "revision &#34;none&#34; is not stored"},
		{"promote", nil, http.StatusUnprocessableEntity, "It was refused: there is no canary."},
		{"rollback", url.Values{"revision": {""}}, http.StatusUnprocessableEntity, "nothing was stable before"},
		{"unpin", url.Values{"id": {"a"}}, http.StatusUnprocessableEntity, "is not pinned"},
		{"pin", url.Values{"id": {""}, "revision": {plan.Stable}}, http.StatusUnprocessableEntity, "is empty"},
	} {
		if a := v.steers("asn", plan, c.action, c.form); a.StatusCode != c.code || !strings.Contains(a.text, c.says) {
			t.Errorf("%s %v is answered with %d, want %d and %q:\n%s", c.action, c.form, a.StatusCode, c.code, c.says, a.text)
		}
	}
	if now := s.plan("asn"); now.Seq != plan.Seq {
		t.Errorf("the plan was changed: %+v", now.Change)
	}
	if a := v.steers("", plan, "pause", nil); a.StatusCode != http.StatusBadRequest {
		t.Errorf("no name is answered with %d", a.StatusCode)
	}
	s.conn.Close()
	if a := v.steers("asn", plan, "pause", nil); a.StatusCode != http.StatusServiceUnavailable || !strings.Contains(a.text, "cannot be reached") {
		t.Errorf("without a server: %d, %s", a.StatusCode, a.text)
	}
	for path, says := range map[string]string{"/": "does not answer", "/fleet?name=asn": "does not answer"} {
		if a := v.get(path); a.StatusCode != http.StatusServiceUnavailable || !strings.Contains(a.text, says) {
			t.Errorf("without a server %s is answered with %d: %s", path, a.StatusCode, a.text)
		}
	}
}

// Each state has its words.
func TestThePageSaysHowTheFleetIs(t *testing.T) {
	s := newSite(t, nil)
	v := s.member("alice")
	says := func(class, text string) {
		t.Helper()
		if a := v.get("/fleet?name=asn"); !strings.Contains(a.text, fmt.Sprintf(`<p class="state %s" role="status">%s</p>`, class, text)) {
			_, body, _ := strings.Cut(a.text, "</header>")
			t.Errorf("the page does not say %s %q:\n%s", class, text, body)
		}
	}
	says("empty", "Nothing was published under this name yet.")
	one := s.publish("asn", "one")
	says("empty", "No replica reports.")
	s.report("asn", "a", one)
	says("fresh", "The one replica runs what it should.")
	s.report("asn", "b", one)
	says("fresh", "All 2 replicas run what they should.")
	two := s.publish("asn", "two")
	s.report("asn", "a", two)
	says("stale", "A rollout is on: 1 of 2 replicas run what they should.")
	v.steers("asn", s.plan("asn"), "pause", nil)
	says("stale", "Paused. 1 of 2 replicas run what they should.")
	v.steers("asn", s.plan("asn"), "resume", nil)
	s.report("asn", "b", two)
	v.steers("asn", s.plan("asn"), "canary", url.Values{"how": {"ids"}, "id": {"b"}, "revision": {one}})
	s.report("asn", "b", one)
	says("stale", "A canary is being tried. 2 of 2 replicas run what they should.")
	if a := v.get("/"); !strings.Contains(a.text, "A canary is being tried.") {
		t.Error("the list of names does not say it")
	}
	c, err := fleet.NewController(s.conn, "asn", "guard")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- c.Guard(ctx) }()
	if a := v.get("/fleet?name=asn"); !strings.Contains(a.text, `data-do="promote"`) {
		t.Error("the canary cannot be promoted")
	}
	plan := s.plan("asn")
	s.send("asn", "b", fmt.Sprintf(`{"id":"b","epoch":%d,"seq":%d,"failed":%q,"error":"a bad row"}`, plan.Epoch, plan.Seq, one))
	eventually(t, "the canary is on hold", func() bool { return s.plan("asn").Hold != "" })
	cancel()
	<-ended
	says("failing", "The canary is on hold: a replica could not load it.")
	if a := v.get("/fleet?name=asn"); strings.Contains(a.text, `data-do="promote"`) {
		t.Error("a canary on hold has the form that promotes it")
	}
}

// Of more than a page has room for, it shows what people look for.
func TestThePageShowsTroubleAndNewsFirst(t *testing.T) {
	s := newSite(t, nil)
	one := s.publish("asn", "one")
	for i := range 220 {
		s.report("asn", fmt.Sprintf("replica-%03d", i), one)
	}
	s.send("asn", "z", `{"id":"z","error":"a bad row"}`)
	v := s.member("alice")
	for i := range 26 {
		v.steers("asn", s.plan("asn"), "pause", url.Values{"why": {fmt.Sprintf("pause %d.", i)}})
		v.steers("asn", s.plan("asn"), "resume", url.Values{"why": {fmt.Sprintf("resumption %d.", i)}})
	}
	text := v.get("/fleet?name=asn").text
	for want, there := range map[string]bool{
		"a bad row": true, "21 more are not shown.": true, "<tr><td>replica-000<": true, "<tr><td>replica-219<": false,
		"resumption 25.": true, "pause 0.": false, "because": false, "3 older changes are not shown.": true,
	} {
		if strings.Contains(text, want) != there {
			t.Errorf("the page has %q: %t", want, !there)
		}
	}
}
