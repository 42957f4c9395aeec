package main

import (
	"encoding/json"
	"errors"
	"strings"
	"syscall"
	"testing"
)

var checkProbes = []probe{{"10.0.0.0", "One, Inc.", 1}, {"10.0.1.0", "Two", 2}}

// checkedRow is a row of an answer of a replica.
type checkedRow struct {
	IP   string `json:"ip"`
	ASN  uint32 `json:"asn"`
	Name string `json:"name"`
}

// checkedAnswer returns the answer of a table of an edition, whose rows change may
// change.
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

func TestCheckerFindsWrongAnswers(t *testing.T) {
	refused := errors.Join(syscall.ECONNREFUSED)
	for name, c := range map[string]struct {
		status int
		body   string
		err    error
		away   bool
		want   string
	}{
		"a right answer":                     {200, checkedAnswer("a", 1, nil), nil, false, "1 of edition 1, 0 failed, 0 mixed"},
		"a right answer before learn":        {200, checkedAnswer("c", 3, nil), nil, false, "1 of edition 3, 0 failed, 0 mixed"},
		"a row of another edition":           {200, checkedAnswer("a", 1, func(r []checkedRow) { r[1].Name = "Two" + stamp(2) }), nil, false, "0 failed, 1 mixed"},
		"the first row of another edition":   {200, checkedAnswer("a", 1, func(r []checkedRow) { r[0].Name = "One, Inc." + stamp(2) }), nil, false, "0 failed, 1 mixed"},
		"the number of another row":          {200, checkedAnswer("a", 1, func(r []checkedRow) { r[1].ASN = 1 }), nil, false, "0 failed, 1 mixed"},
		"a torn name":                        {200, checkedAnswer("c", 1, func(r []checkedRow) { r[0].Name = "One, Inc. (edit" }), nil, false, "0 failed, 1 mixed"},
		"the answer for another address":     {200, checkedAnswer("a", 1, func(r []checkedRow) { r[0].IP = "10.0.1.0" }), nil, false, "0 failed, 1 mixed"},
		"rows of the other edition":          {200, checkedAnswer("a", 2, nil), nil, false, "0 failed, 1 mixed"},
		"a revision that must not be served": {200, checkedAnswer("broken", 1, nil), nil, false, "0 failed, 1 mixed"},
		"no revision":                        {200, checkedAnswer("", 1, nil), nil, false, "1 failed, 0 mixed"},
		"half an answer":                     {200, checkedAnswer("a", 1, nil)[:40], nil, false, "1 failed, 0 mixed"},
		"an error":                           {500, checkedAnswer("a", 1, nil), nil, true, "1 failed, 0 mixed"},
		"not ready":                          {503, "no table is loaded yet\n", nil, false, "1 failed, 0 mixed"},
		"refused":                            {0, "", refused, false, "1 failed, 0 mixed"},
		"refused during a restart":           {0, "", refused, true, "0 failed, 0 mixed; 1 requests met no process or one that was not ready, during its restart"},
	} {
		checker := newChecker(t.Context())
		if err := errors.Join(checker.learn("broken", 0), checker.learn("a", 1), checker.learn("b", 2)); err != nil {
			t.Fatal(err)
		}
		checker.check("r1", checkProbes, c.status, []byte(c.body), c.err, c.away)
		if got := checker.tally("r1").String(); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
		if err := checker.wrong(); (err == nil) != strings.Contains(c.want, "0 failed, 0 mixed") {
			t.Errorf("%s: the verdict is %v", name, err)
		}
		checker.stop()
	}
	checker := newChecker(t.Context())
	checker.check("r1", checkProbes, 200, []byte(checkedAnswer("a", 1, nil)), nil, false)
	if err := checker.learn("a", 2); err == nil {
		t.Error("a revision was served as edition 1, and is edition 2")
	}
	checker.stop()
}
