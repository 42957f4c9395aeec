package main

import (
	"math/rand/v2"
	"strings"
	"testing"
)

func filled(t *testing.T, encoded []byte, version uint32) *table {
	t.Helper()
	made := new(table)
	if err := made.fill(encoded, version); err != nil {
		t.Fatal(err)
	}
	return made
}

func TestAnswersAreThoseOfEachRow(t *testing.T) {
	made := filled(t, madeUp(300), 7)
	numberOf := func(address uint32) (number uint32, ok bool) { // in a gap of the range before
		for _, r := range made.rows {
			if r.first <= address {
				number, ok = r.number, address <= r.last
			}
		}
		return number, ok
	}
	var addresses []uint32
	for _, r := range made.rows {
		addresses = append(addresses, r.first-1, r.first, r.last, r.last+1)
	}
	random := rand.New(rand.NewPCG(5, 6))
	for range 1000 {
		addresses = append(addresses, random.Uint32())
	}
	for _, address := range append(addresses, 0, 1<<32-1) {
		number, ok := numberOf(address)
		if made.answers(question{address, number, 0}) != ok {
			t.Errorf("%d is in a range: %v, want %v", address, !ok, ok)
		}
		if made.answers(question{address, number + 1, 0}) {
			t.Errorf("%d has the number %d as well as %d", address, number+1, number)
		}
	}
}

func TestAnswersShowMixedVersions(t *testing.T) {
	const n = 5
	for i, name := range []string{0: "the first row", 2: "the row found", n - 1: "the last row"} {
		if name == "" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			made := filled(t, madeUp(n), 7)
			q := question{made.rows[2].first, made.rows[2].number, 7}
			if !made.answers(q) {
				t.Fatal("the answer of one version is wrong")
			}
			if later := (question{q.address, q.number, 8}); made.answers(later) {
				t.Error("the answer of an earlier version is right")
			}
			made.rows[i].version = 8
			if made.answers(q) {
				t.Error("the answer of two versions is right")
			}
		})
	}
}

func TestQuestionsHaveRightAnswers(t *testing.T) {
	encoded := madeUp(300)
	made := filled(t, encoded, 7)
	list, err := questions(encoded, 1000)
	if err != nil || len(list) != 1000 {
		t.Fatal(len(list), err)
	}
	for _, q := range list {
		if !made.answers(q) {
			t.Errorf("%+v is wrong", q)
		}
	}
}

func TestFillReusesMemory(t *testing.T) {
	encoded := madeUp(300)
	made := filled(t, encoded, 1)
	before := &made.rows[0]
	if err := made.fill(encoded[:100*encodedRow], 2); err != nil || len(made.rows) != 100 {
		t.Fatal(len(made.rows), err)
	}
	if err := made.fill(encoded, 3); err != nil || len(made.rows) != 300 || &made.rows[0] != before {
		t.Error(len(made.rows), err)
	}
	for i, r := range made.rows {
		if r.version != 3 {
			t.Fatalf("row %d is of version %d", i, r.version)
		}
	}
}

func TestFillRefusesRowsOutOfOrder(t *testing.T) {
	for name, encoded := range map[string][]byte{
		"descending":     appendRow(appendRow(nil, 5, 6, 0), 1, 2, 0),
		"overlapping":    appendRow(appendRow(nil, 5, 6, 0), 6, 7, 0),
		"end before row": appendRow(appendRow(nil, 5, 6, 0), 9, 8, 0),
	} {
		if err := new(table).fill(encoded, 1); err == nil || err.Error() != "row 1 is out of order" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestCSVMakesTheRows(t *testing.T) {
	encoded, err := readCSV(strings.NewReader("0.0.0.1,0.0.0.9,64496,\"Example, Inc.\"\n0.0.0.8,255.0.0.0,64497\r\n255.0.0.0,255.255.255.255,4294967295,x,y"))
	if err != nil {
		t.Fatal(err)
	}
	want := []row{{1, 7, 64496, 3}, {8, 255<<24 - 1, 64497, 3}, {255 << 24, 1<<32 - 1, 1<<32 - 1, 3}} // each cuts the one before short
	made := filled(t, encoded, 3)
	if len(made.rows) != len(want) {
		t.Fatal(made.rows)
	}
	for i := range want {
		if made.rows[i] != want[i] {
			t.Errorf("row %d: %+v, want %+v", i, made.rows[i], want[i])
		}
	}
}

func TestCSVErrorsNameTheLine(t *testing.T) {
	const good = "1.0.0.0,1.0.0.9,1,\"two\nlines\"\n"
	for _, c := range []struct{ lines, want string }{
		{"", "there is no range in it"},
		{good + "1.0.1.0,1.0.1.9\n", "line 3: 2 fields, want at least 3: start,end,number"},
		{good + "1.0.1,1.0.1.9,1\n", `line 3: "1.0.1" is not an IPv4 address`},
		{good + "1.0.1.0,2001:db8::,1\n", `line 3: "2001:db8::" is not an IPv4 address`},
		{good + "1.0.1.0,1.0.1.9,x\n", `line 3: "x" is not a number of 32 bits`},
		{good + "1.0.1.0,1.0.1.9,4294967296\n", `line 3: "4294967296" is not a number of 32 bits`},
		{good + "1.0.1.9,1.0.1.0,1\n", "line 3: 1.0.1.9 - 1.0.1.0 is not a range"},
		{good + "1.0.0.0,1.0.1.0,1\n", "line 3: the range does not begin behind the one before"},
		{good + "1.0.1.0,1.0.1.9,1,\"cut off\n", `parse error on line 3`},
	} {
		if _, err := readCSV(strings.NewReader(c.lines)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, want %s", c.lines, err, c.want)
		}
	}
}
