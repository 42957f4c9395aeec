package page_test

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/poolswap/poolswap/fleet"
)

func TestHeadlineOfEachState(t *testing.T) {
	s := newSite(t, nil)
	v := s.operator("ann")
	says := func(class, text string, more ...string) {
		t.Helper()
		headline := fmt.Sprintf(`<p class="state %s">%s</p>`, class, text)
		var shown string
		eventually(t, "the page says "+headline, func() bool { // reports may be a second old
			shown = v.get("/fleet?name=asn").text
			return strings.Contains(shown, headline)
		})
		wantTexts(t, shown, more...)
		if list := v.get("/").text; s.store.Names() != nil && !strings.Contains(list, "asn") {
			t.Errorf("the list has no asn: %s", list)
		}
	}
	if a := v.get("/fleet?name=asn"); a.StatusCode != http.StatusNotFound {
		t.Errorf("a name without a plan is answered with %d", a.StatusCode)
	}
	says("empty", "Nothing was published under this name yet.")
	one := s.publish("asn", "one")
	says("empty", "No replica reports.", "None reports.")
	s.report("asn", fleet.Report{ID: "a", Revision: one})
	says("fresh", "The one replica runs its planned revision.")
	s.report("asn", fleet.Report{ID: "b", Revision: one})
	says("fresh", "All 2 replicas run their planned revision.", "!swaps by deltas")
	s.report("asn", fleet.Report{ID: "b", Revision: one, Deltas: &fleet.Deltas{Loaded: 7, Saved: 1 << 20, Unfit: 1, Error: "no <row>"}})
	eventually(t, "the page tells of deltas", func() bool {
		return strings.Contains(v.get("/fleet?name=asn").text, "7 swaps by deltas saved 1.0 MiB. Replicas that fell back to whole content: 1, such as b: no &lt;row&gt;")
	})
	two := s.publish("asn", "two")
	s.report("asn", fleet.Report{ID: "a", Revision: two})
	says("stale", "Replicas are changing over. 1 of 2 replicas run their planned revision.", "is to run")
	s.change("asn", "ann", fleet.Operation{Kind: fleet.KindPause})
	says("stale", "Paused. 1 of 2 replicas run their planned revision.", "All is paused")
	s.change("asn", "ann", fleet.Operation{Kind: fleet.KindResume})
	s.report("asn", fleet.Report{ID: "b", Revision: two, Error: "a bad row"})
	says("failing", "1 of 2 replicas reports a failure. 1 of 2 replicas run their planned revision.", "a bad row")
	s.report("asn", fleet.Report{ID: "b", Revision: two})
	s.change("asn", "ann", fleet.Operation{Kind: fleet.KindCanary, Revision: one, Selection: fleet.Selection{IDs: []string{"b"}}})
	s.report("asn", fleet.Report{ID: "b", Revision: one})
	says("stale", "A canary is being tried. 2 of 2 replicas run their planned revision.", `data-do="promote"`, `<span class="tag">canary</span>`, "A canary gives <code>"+one+"</code> to b.")
	if _, err := s.store.Change(t.Context(), "asn", "", "fleetd", func(next *fleet.Plan, change *fleet.Change) error {
		next.Canary.Hold, change.Kind, change.To = "b: a bad row", fleet.KindHold, one
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	says("failing", "The canary is on hold. 2 of 2 replicas run their planned revision.", `!data-do="promote"`, "must not be promoted: b: a bad row", "fleetd put the canary on hold")
	three := s.put("asn", "three")
	s.change("asn", "ann", fleet.Operation{Kind: fleet.KindRollout, Revision: three, Steps: []float64{0.07, 0.5}, Bake: 90 * time.Minute})
	says("stale", "A rollout is at step 1 of 3. 0 of 2 replicas run their planned revision.", "7 %</li><li>50 %</li><li>100 %</li>",
		"ann rolls out <code>"+three, ": 0 of 2 run it. This step began <time", "no worse than the others for 90 min", "End the rollout")
	s.report("asn", fleet.Report{ID: "a", Revision: three, Health: &fleet.Health{Requests: 1_234_567, Errors: 617, Latency: 1_900 * time.Microsecond}})
	says("stale", "A rollout is at step 1 of 3. 1 of 2 replicas run their planned revision.", "0.05 % errors in 1,234,567 requests, latency 1.9 ms")
	s.change("asn", "ann", fleet.Operation{Kind: fleet.KindPin, ID: "c", Revision: two})
	says("stale", "A rollout is at step 1 of 3. 1 of 2 replicas run their planned revision.", "c is pinned to", "This step began <time")
	s.change("asn", "ann", fleet.Operation{Kind: fleet.KindRollout, Revision: one, Steps: []float64{0.5}, Bake: time.Hour})
	s.change("asn", "ann", fleet.Operation{Kind: fleet.KindUnpin, ID: "c"}) // nobody has looked in between
	says("stale", "A rollout is at step 1 of 2. 1 of 2 replicas run their planned revision.", "!This step began")
}

// A replica that has died is silent, and counts as none that runs its revision.
func TestSilentReplicasAreSaid(t *testing.T) {
	s, crowd := newCrowd(t, 3)
	crowd.replicas[1].Received, crowd.replicas[1].Every = time.Now().Add(-3*time.Minute), 30*time.Second
	third := &crowd.replicas[2] // its clock is wrong
	third.Error, third.At, third.Since = "", third.At.Add(time.Hour), third.At.Add(50*time.Minute)
	wantTexts(t, s.operator("ann").get("/fleet?name=asn").text, "1 of 3 replicas is silent. 2 of 3 replicas run their planned revision.", ">silent 1</a>", `class="silent">silent</span>`, "3 min ago", "2 of 3 run it", ">10 min</time>")
}

func TestReplicasArePagedAndFiltered(t *testing.T) {
	s, _ := newCrowd(t, 1010) // 11 fail, 101 are in eu
	v := s.operator("ann")
	rows := regexp.MustCompile(`<tr><td class="what">(replica-\d+)`)
	for _, c := range []struct {
		query string
		rows  int
		first string
		says  []string
	}{
		{"", 100, "replica-00002", []string{">all 1,010</a>", ">running 999</a>", ">failing 11</a>", "1 to 100 of 1,010", "page=2", "!Previous"}},
		{"&page=2", 100, "replica-00090", []string{"101 to 200 of 1,010", "page=3", "Previous"}},
		{"&page=11", 10, "replica-00999", []string{"1,001 to 1,010 of 1,010", "!Next"}},
		{"&page=99", 0, "", []string{"None.", "page=11"}},
		{"&page=x&state=y", 100, "replica-00002", nil},
		{"&state=failing", 11, "replica-00002", []string{"1 to 11 of 11", "!Next", `state=failing#replicas" aria-current="page"`}},
		{"&state=silent", 0, "", []string{"None.", ">silent 0</a>"}},
		{"&find=region%3Deu", 100, "replica-00000", []string{">all 101</a>", "!>failing", "1 to 100 of 101", "find=region%3Deu&amp;name=asn&amp;page=2"}},
		{"&find=region%3Deu&state=running&page=2", 1, "replica-01000", []string{"101 to 101 of 101"}},
		{"&find=region%3De", 0, "", []string{">all 0</a>"}},
		{"&find=0007,+region%3Deu", 1, "replica-00070", nil},
		{"&find=replica-000", 100, "replica-00002", []string{"1 to 100 of 100", "!Next"}},
		{"&find=" + strings.Repeat("replica,", 10) + "nothing", 100, "replica-00002", nil}, // the eleventh is too many
		{"&find=replica-00777", 1, "replica-00777", []string{`value="replica-00777"`}},
	} {
		t.Run(c.query, func(t *testing.T) {
			a := v.get("/fleet?name=asn" + c.query)
			wantTexts(t, a.text, append(c.says, "11 of 1,010 replicas report a failure. 999 of 1,010 replicas run their planned revision.")...)
			found := rows.FindAllStringSubmatch(a.text, -1)
			if len(found) != c.rows || c.rows > 0 && found[0][1] != c.first {
				t.Errorf("%d rows, want %d from %s: %.100v", len(found), c.rows, c.first, found)
			}
		})
	}
}

func TestHistoryIsPaged(t *testing.T) {
	s := newSite(t, nil)
	s.publish("asn", "one")
	for i := range 60 { // a plan and its change take two
		s.change("asn", "ann", fleet.Operation{Kind: fleet.KindPause, Why: fmt.Sprintf("pause %d.", i)})
		s.change("asn", "ann", fleet.Operation{Kind: fleet.KindResume, Why: fmt.Sprintf("resumption %d.", i)})
	}
	v := s.operator("bob")
	link := func(text, name string) string {
		t.Helper()
		if found := regexp.MustCompile(`<a href="([^"]+)"[^>]*>` + name + `</a>`).FindStringSubmatch(text); found != nil {
			return strings.ReplaceAll(found[1], "&amp;", "&")
		}
		return ""
	}
	newest := v.get("/history?name=asn")
	wantTexts(t, newest.text, "resumption 59.", "pause 35.", "!resumption 34.", "!Newer")
	older := v.get(link(newest.text, "Older"))
	wantTexts(t, older.text, "resumption 34.", "pause 10.", "!resumption 9.", "!pause 35.")
	oldest := v.get(link(older.text, "Older"))
	wantTexts(t, oldest.text, "resumption 9.", "because", "!pause 10.", "!Older")
	back := v.get(link(oldest.text, "Newer"))
	wantTexts(t, back.text, "resumption 34.", "pause 10.", "!resumption 9.", "!pause 35.")
	if at := link(back.text, "Newer"); at != "/history?name=asn" {
		t.Errorf("the newest page is at %q", at)
	}
	if a := v.get("/history?name=asn&before=x"); a.StatusCode != http.StatusBadRequest {
		t.Errorf("a page of nothing is answered with %d", a.StatusCode)
	}
}

// Changes alike that follow each other do not push others out of sight.
func TestHistoryCollapsesRepeats(t *testing.T) {
	s := newSite(t, nil)
	one := s.publish("asn", "one")
	for range 5 {
		s.change("asn", "cron", fleet.Operation{Kind: fleet.KindPublish, Revision: one, Why: "each hour"})
	}
	text := s.operator("ann").get("/history?name=asn").text
	wantTexts(t, text, "5 times since", "builder published", "because")
	if n := strings.Count(text, `<td class="why">each hour`); n != 1 {
		t.Errorf("there are %d rows", n)
	}
}

func TestRevisionsArePaged(t *testing.T) {
	s := newSite(t, nil)
	for i := range 52 {
		s.put("asn", fmt.Sprint("v", i))
	}
	s.change("asn", "ann", fleet.Operation{Kind: fleet.KindPublish, Revision: "rev-v0"})
	s.report("asn", fleet.Report{ID: "a", Revision: "rev-v0"})
	v := s.operator("ann")
	first := v.get("/revisions?name=asn").text
	wantTexts(t, first, "52 revisions", "page=2", "!rev-v1<", "rev-v0<", `<span class="tag">stable</span> 1 runs it`, "2 B") // the server has touched it last
	wantTexts(t, v.get("/revisions?name=asn&page=2").text, "rev-v1<", "!rev-v51<", "Newer", "!Older")
	wantTexts(t, v.get("/revisions?name=asn&page=3").text, "There are no more stored revisions.")
	if n := strings.Count(first, "<tbody>"); n != 50 {
		t.Errorf("%d rows", n)
	}
}

func TestNamesArePaged(t *testing.T) {
	s := newSite(t, nil)
	for i := range 51 {
		s.publish(fmt.Sprintf("name-%02d", i), "one")
	}
	v := s.operator("ann")
	wantTexts(t, v.get("/").text, "name-00", "name-49", "!name-50", "/?page=2", "No replica reports.", "builder published")
	wantTexts(t, v.get("/?page=2").text, "!name-49", "name-50", "/?page=1", "!page=3")
	wantTexts(t, v.get("/?page=3").text, "There are no more fleets.")
}
