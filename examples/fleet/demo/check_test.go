package main

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

// checkedRow is a row of an answer of a replica.
type checkedRow struct {
	IP   string `json:"ip"`
	ASN  uint32 `json:"asn"`
	Name string `json:"name"`
}

// checkedAnswer returns the answer of rows of an edition, which change may change.
func checkedAnswer(revision string, e *edition, asked []int, change func(rows []checkedRow)) string {
	var rows []checkedRow
	for _, row := range asked {
		rows = append(rows, checkedRow{addressOf(row), uint32(64496 + row), rowOf(row, e.of(row))[2]})
	}
	if change != nil {
		change(rows)
	}
	text, _ := json.Marshal(map[string]any{"revision": revision, "version": 1, "answers": rows})
	return string(text)
}

func TestCheckerFindsWrongAnswers(t *testing.T) {
	first := newEdition(1000)
	second := first.next(1)
	asked := second.rows
	const mixed, failed = "0 failed, 1 mixed", "1 failed, 0 mixed"
	for name, c := range map[string]struct {
		body string
		err  error
		want string
	}{
		"a right answer":                 {checkedAnswer("a", first, asked, nil), nil, "1 answers are right, the last of edition 0; 0 failed, 0 mixed"},
		"a right answer of the next":     {checkedAnswer("b", second, asked, nil), nil, "1 answers are right, the last of edition 1; 0 failed, 0 mixed"},
		"a row of the edition before":    {checkedAnswer("b", second, asked, func(r []checkedRow) { r[3].Name = rowOf(asked[3], 0)[2] }), nil, mixed},
		"the number of another row":      {checkedAnswer("a", first, asked, func(r []checkedRow) { r[1].ASN = 1 }), nil, mixed},
		"a torn name":                    {checkedAnswer("a", first, asked, func(r []checkedRow) { r[0].Name = r[0].Name[1:] }), nil, mixed},
		"the answer for another address": {checkedAnswer("a", first, asked, func(r []checkedRow) { r[0].IP = r[1].IP }), nil, mixed},
		"rows of the other edition":      {checkedAnswer("a", second, asked, nil), nil, mixed},
		"half an answer":                 {checkedAnswer("a", first, asked, nil)[:40], nil, failed},
		"an answer for fewer":            {checkedAnswer("a", first, asked[1:], nil), nil, failed},
		"an error":                       {checkedAnswer("a", first, asked, nil), errors.New("500"), failed},
	} {
		checker := newChecker(t.Context(), 1000)
		checker.learn("a", first)
		checker.learn("b", second)
		checker.check("r1", asked, []byte(c.body), c.err)
		if got := checker.tally("r1").String(); !strings.Contains(got, c.want) {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
		if err := checker.wrong; (err == nil) != strings.Contains(c.want, "0 failed, 0 mixed") {
			t.Errorf("%s: the verdict is %v", name, err)
		}
		checker.stop()
	}
}

func TestEditionsAreCompared(t *testing.T) {
	first := newEdition(1000)
	second := first.next(1).next(2)
	lines := strings.SplitAfter(second.all().String(), "\n")
	whole := strings.Join(lines, "")
	for name, c := range map[string]struct {
		text string
		of   *edition
		ok   bool
	}{
		"all rows":           {whole, second, true},
		"in another order":   {strings.Join(lines[500:], "") + strings.Join(lines[:500], ""), second, true},
		"of another edition": {whole, first, false},
		"one less":           {strings.Join(lines[1:], ""), second, false},
		"one twice":          {whole + lines[0], second, false},
		"one for another":    {strings.Join(lines[1:], "") + lines[5], second, false},
	} {
		if err := c.of.compare([]byte(c.text)); (err == nil) != c.ok {
			t.Errorf("%s: %v", name, err)
		}
	}
	if again := newEdition(1000); again.hash.Sum() == second.hash.Sum() || again.hash.Sum() != first.hash.Sum() {
		t.Error("the digest is not that of the rows")
	}
}
