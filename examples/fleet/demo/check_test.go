package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

var checkProbes = []probe{{"10.0.0.0", "One, Inc.", 1}, {"10.0.1.0", "Two", 2}}

// checkedRow is a row of an answer of a replica.
type checkedRow struct {
	IP   string `json:"ip"`
	ASN  uint32 `json:"asn"`
	Name string `json:"name"`
}

// checkedAnswer returns the answer of a table of an edition, of which change may
// change the rows.
func checkedAnswer(revision string, edition int, change func(rows []checkedRow)) string {
	var rows []checkedRow
	for _, p := range checkProbes {
		rows = append(rows, checkedRow{p.ip, p.asn, p.name + stamp(edition)})
	}
	if change != nil {
		change(rows)
	}
	text, _ := json.Marshal(map[string]any{"revision": revision, "version": 1, "answers": rows})
	return string(text)
}

func TestTheCheckerSeesWhatIsWrong(t *testing.T) {
	for name, c := range map[string]struct {
		status int
		body   string
		want   string
	}{
		"a right answer":                     {200, checkedAnswer("a", 1, nil), "1 of edition 1, 0 failed, 0 mixed"},
		"another right answer":               {200, checkedAnswer("b", 2, nil), "1 of edition 2, 0 failed, 0 mixed"},
		"a row of another edition":           {200, checkedAnswer("a", 1, func(r []checkedRow) { r[1].Name = "Two" + stamp(2) }), "0 failed, 1 mixed"},
		"the first row of another edition":   {200, checkedAnswer("a", 1, func(r []checkedRow) { r[0].Name = "One, Inc." + stamp(2) }), "0 failed, 1 mixed"},
		"the number of another row":          {200, checkedAnswer("a", 1, func(r []checkedRow) { r[1].ASN = 1 }), "0 failed, 1 mixed"},
		"the name of another row":            {200, checkedAnswer("a", 1, func(r []checkedRow) { r[1].Name = r[0].Name }), "0 failed, 1 mixed"},
		"a torn name":                        {200, checkedAnswer("a", 1, func(r []checkedRow) { r[0].Name = "One, Inc. (edit" }), "0 failed, 1 mixed"},
		"the answer for another address":     {200, checkedAnswer("a", 1, func(r []checkedRow) { r[0].IP = "10.0.1.0" }), "0 failed, 1 mixed"},
		"rows in no edition":                 {200, checkedAnswer("a", 9, nil), "0 failed, 1 mixed"},
		"rows of the other edition":          {200, checkedAnswer("a", 2, nil), "0 failed, 1 mixed"},
		"a revision that must not be served": {200, checkedAnswer("broken", 1, nil), "0 failed, 1 mixed"},
		"a revision that is not published":   {200, checkedAnswer("c", 1, nil), "0 failed, 1 mixed"},
		"no revision":                        {200, checkedAnswer("", 1, nil), "1 failed, 0 mixed"},
		"one row less":                       {200, `{"revision":"a","version":1,"answers":[{"ip":"10.0.0.0","asn":1,"name":"One, Inc. (edition 1)"}]}`, "1 failed, 0 mixed"},
		"half an answer":                     {200, checkedAnswer("a", 1, nil)[:40], "1 failed, 0 mixed"},
		"an error":                           {500, checkedAnswer("a", 1, nil), "1 failed, 0 mixed"},
		"not ready":                          {503, "no table is loaded yet\n", "1 failed, 0 mixed"},
	} {
		checker := newChecker(checkProbes)
		checker.learn("broken", 0)
		checker.check("r1", checkProbes, c.status, []byte(c.body), nil)
		checker.learn("a", 1) // later than the answer
		checker.learn("b", 2)
		if got := checker.tally("r1").String(); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
		if err := checker.wrong(); (err == nil) != strings.HasSuffix(c.want, ", 0 failed, 0 mixed") {
			t.Errorf("%s: the verdict is %v", name, err)
		}
	}
}

// TestAskersCountWhatAReplicaDoes asks one that gives right answers, then mixes
// editions, fails, is not ready, and ends.
func TestAskersCountWhatAReplicaDoes(t *testing.T) {
	answers := make(chan http.HandlerFunc, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer := <-answers
		answers <- answer
		answer(w, r)
	}))
	defer server.Close()
	checker := newChecker(checkProbes[:1])
	checker.learn("a", 1)
	to := &target{id: "r1", url: server.URL}
	rows := func(editions ...int) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			var all []checkedRow
			for i, ip := range r.URL.Query()["ip"] {
				all = append(all, checkedRow{ip, 1, "One, Inc." + stamp(editions[i%len(editions)])})
			}
			json.NewEncoder(w).Encode(map[string]any{"revision": "a", "version": 1, "answers": all})
		}
	}
	answers <- rows(1)
	stop := checker.askAll(t.Context(), []*target{to}, 2)
	defer stop()
	await := func(what string, right func(now tally) bool) (then tally) {
		t.Helper()
		if err := until(t.Context(), what, func() bool { then = checker.tally("r1"); return right(then) }); err != nil {
			t.Fatalf("%v: %v", err, then)
		}
		return then
	}
	become := func(answer http.HandlerFunc) { <-answers; answers <- answer }

	if was := await("right answers", func(now tally) bool { return now.editions[1] >= 10 }); was.failed+was.mixed+was.away > 0 || checker.wrong() != nil {
		t.Errorf("right answers: %v, %v", was, checker.wrong())
	}
	become(rows(1, 2))
	was := await("mixed answers", func(now tally) bool { return now.mixed >= 10 })
	if was.failed+was.away > 0 {
		t.Errorf("mixed answers: %v", was)
	}
	become(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) })
	if was = await("failed answers", func(now tally) bool { return now.failed >= 10 }); was.away > 0 {
		t.Errorf("not ready, and not away: %v", was)
	}
	to.away.Store(true)
	was = await("it is away", func(now tally) bool { return now.away >= 10 })
	become(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	was = await("broken connections", func(now tally) bool { return now.failed >= was.failed+10 }) // although it is away
	server.Listener.Close()
	server.CloseClientConnections()
	was = await("the replica is down", func(now tally) bool { return now.away >= was.away+10 })
	to.away.Store(false)
	await("the replica is down, and not said to be away", func(now tally) bool { return now.failed >= was.failed+10 })
	if err := checker.wrong(); err == nil || !strings.Contains(err.Error(), "r1 mixed: it says that 10.0.0.0 is 1 \"One, Inc. (edition 2)\"") {
		t.Errorf("the verdict is %v", err)
	}
}
