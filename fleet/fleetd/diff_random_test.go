package main

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// rows are the rows of a file by key, as a reader of it would compare them.
type rows map[string]string

// oracle is what a test knows of a format.
type oracle struct {
	flags []string
	file  func(r *rand.Rand, keys []int) string // a file with these rows, some of which it changes
	parse func(t *testing.T, text string) rows
	apply func(t *testing.T, to rows, delta string) (operations int) // decodes a delta as a replica would
}

// TestDiffMakesNewOfOld applies deltas of random files, in random order and with random
// ends of lines.
func TestDiffMakesNewOfOld(t *testing.T) {
	t.Chdir(t.TempDir())
	rounds := map[bool]int{true: 50, false: 200}[testing.Short()]
	for name, o := range oracles {
		t.Run(name, func(t *testing.T) {
			for seed := range rounds {
				r := rand.New(rand.NewPCG(uint64(seed), 1))
				keys := func() []int { return r.Perm(20)[:r.IntN(21)] }
				before, after := o.file(r, keys()), o.file(r, keys())
				delta, _ := runDiff(t, 0, before, after, o.flags...)
				got, want := o.parse(t, before), o.parse(t, after)
				differ := differences(got, want)
				if n := o.apply(t, got, delta); n != differ || !maps.Equal(got, want) {
					t.Fatalf("seed %d: %d operations for %d differences make\n%q of\n%q, want\n%q by\n%q", seed, n, differ, got, before, want, delta)
				}
				if again, _ := runDiff(t, 0, shuffled(r, name, before), shuffled(r, name, after), o.flags...); again != delta {
					t.Fatalf("seed %d: in another order it prints\n%q, not\n%q", seed, again, delta)
				}
				if none, _ := runDiff(t, 0, before, shuffled(r, name, before), o.flags...); o.apply(t, rows{}, none) != 0 {
					t.Fatalf("seed %d: for the same rows it prints %q", seed, none)
				}
			}
		})
	}
}

// differences returns how many keys have another row, or none.
func differences(a, b rows) (n int) {
	all := maps.Clone(a)
	maps.Copy(all, b)
	for key := range all {
		was, before := a[key]
		is, after := b[key]
		if before != after || was != is {
			n++
		}
	}
	return n
}

// shuffled returns a file with its rows in another order. Rows of CSV may have several
// lines.
func shuffled(r *rand.Rand, format, text string) string {
	if format == "csv" {
		records, _ := csv.NewReader(strings.NewReader(text)).ReadAll()
		all := records[1:]
		r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		return csvFile(r, records)
	}
	all := strings.FieldsFunc(strings.ReplaceAll(text, "\r\n", "\n"), func(c rune) bool { return c == '\n' })
	r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return lineFile(r, all)
}

// lineFile returns a file of lines with random ends.
func lineFile(r *rand.Rand, all []string) string {
	var b strings.Builder
	for i, line := range all {
		b.WriteString(line)
		if i < len(all)-1 || r.IntN(2) == 0 {
			b.WriteString(pick(r, "\n", "\r\n"))
		}
	}
	return b.String()
}

// csvFile returns a file of records with random ends of lines and random quotes.
func csvFile(r *rand.Rand, records [][]string) string {
	var all []string
	for _, record := range records {
		fields := slices.Clone(record)
		for i, field := range fields {
			if strings.ContainsAny(field, "\"\r\n,") || strings.HasPrefix(field, " ") || field == "" && len(fields) == 1 || r.IntN(3) == 0 {
				fields[i] = `"` + strings.ReplaceAll(field, `"`, `""`) + `"`
			}
		}
		all = append(all, strings.Join(fields, ","))
	}
	return lineFile(r, all)
}

func pick(r *rand.Rand, of ...string) string { return of[r.IntN(len(of))] }

// anyText returns a text of characters that formats treat in their own way.
func anyText(r *rand.Rand) string {
	var b strings.Builder
	for range r.IntN(4) {
		b.WriteString(pick(r, "a", "é", "+", "-", `"`, `\`, ",", " ", "\n", "\t", "\u2028", "<", "{", "}", "[", ":", "0", "\x00", "\ufeff"))
	}
	return b.String()
}

var oracles = map[string]oracle{
	"lines": {
		flags: []string{"-format", "lines"},
		file: func(r *rand.Rand, keys []int) string {
			var all []string
			for _, key := range keys {
				all = append(all, []string{"", "+", "-", " ", "\r"}[key%5]+fmt.Sprint(key))
			}
			return lineFile(r, all)
		},
		parse: func(_ *testing.T, text string) rows {
			all := rows{}
			for line := range strings.Lines(text) {
				all[strings.TrimRight(line, "\r\n")] = ""
			}
			return all
		},
		apply: func(t *testing.T, to rows, delta string) int {
			last := ""
			for line := range strings.Lines(delta) {
				key := strings.TrimSuffix(line[1:], "\n")
				if _, ok := to[key]; ok != (line[0] == '-') || key <= last {
					t.Errorf("%q is behind %q, or does not fit", line, last)
				}
				if last = key; line[0] == '+' {
					to[key] = ""
				} else {
					delete(to, key)
				}
			}
			return strings.Count(delta, "\n")
		},
	},
	"csv": {
		flags: []string{"-format", "csv", "-key", "the,id"},
		file: func(r *rand.Rand, keys []int) string {
			records := [][]string{{"n", "the,id", "\"m\"\n"}}
			for _, key := range keys {
				records = append(records, []string{anyText(r), []string{"a", "\n\"", " ", "é,"}[key%4] + fmt.Sprint(key), pick(r, "", "1")})
			}
			return csvFile(r, records)
		},
		parse: func(t *testing.T, text string) rows {
			all := rows{}
			for _, record := range readCSV(t, text) {
				all[record[1]] = fmt.Sprintf("%q", record)
			}
			return all
		},
		apply: func(t *testing.T, to rows, delta string) int {
			last := ""
			records := readCSV(t, delta)
			for _, record := range records {
				key := record[2]
				if record[0] == "delete" && (to[key] == "" || record[1] != "" || record[3] != "") || key <= last {
					t.Errorf("%q is behind %q, or does not fit", record, last)
				}
				if last = key; record[0] == "set" {
					to[key] = fmt.Sprintf("%q", record[1:])
				} else {
					delete(to, key)
				}
			}
			return len(records)
		},
	},
	"jsonl": {
		flags: []string{"-format", "jsonl"},
		file: func(r *rand.Rand, keys []int) string {
			var all []string
			for _, key := range keys {
				fields := []string{`"id"` + space(r) + ":" + space(r) + randomJSONKey(r, key), `"n"` + space(r) + ":" + randomJSON(r), `"x":{"id":[` + randomJSON(r) + "]}"}
				if r.IntN(2) == 0 {
					slices.Reverse(fields)
				}
				all = append(all, space(r)+"{"+strings.Join(fields, space(r)+",")+space(r)+"}")
			}
			return lineFile(r, all)
		},
		parse: func(t *testing.T, text string) rows {
			all := rows{}
			for line := range strings.Lines(text) {
				var row bytes.Buffer
				if err := json.Compact(&row, []byte(line)); err != nil {
					t.Fatal(err)
				}
				all[idOf(t, row.Bytes())] = row.String()
			}
			return all
		},
		apply: func(t *testing.T, to rows, delta string) (n int) {
			for line := range strings.Lines(delta) {
				var op struct {
					Op       string
					Row, Key json.RawMessage
				}
				if err := json.Unmarshal([]byte(line), &op); err != nil {
					t.Fatal(err)
				}
				if op.Op == "set" {
					to[idOf(t, op.Row)] = string(op.Row)
				} else if key := keyOf(t, op.Key); op.Op != "delete" || to[key] == "" {
					t.Errorf("%q does not fit", line)
				} else {
					delete(to, key)
				}
				n++
			}
			return n
		},
	},
}

// readCSV returns the records behind the header.
func readCSV(t *testing.T, text string) [][]string {
	t.Helper()
	records, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return records[1:]
}

func space(r *rand.Rand) string { return pick(r, "", "", " ", "\t") }

func randomJSON(r *rand.Rand) string {
	switch r.IntN(4) {
	case 0:
		return pick(r, "1", "1.0", "null", "-1e3", "[]", "{}", `{"id":[{"a":"}"}]}`)
	case 1:
		return strings.ReplaceAll(encoded(anyText(r)), "a", pick(r, "a", `\u0061`))
	}
	return encoded(pick(r, "a", "b"))
}

func encoded(value any) string {
	text, _ := json.Marshal(value)
	return string(text)
}

// randomJSONKey returns one of many ways to write a key: a string or a number.
func randomJSONKey(r *rand.Rand, key int) string {
	if key%3 == 0 {
		text := encoded(fmt.Sprint("a\"é\u2028<", key))
		return strings.ReplaceAll(strings.ReplaceAll(text, "a", pick(r, "a", `\u0061`)), "é", pick(r, "é", `\u00e9`, `\u00E9`))
	}
	number := big.NewRat(int64(key)-10, int64([]int{1, 100, 100000}[key/3%3]))
	if number.IsInt() && r.IntN(2) == 0 {
		return number.RatString()
	}
	power, exponent := big.NewRat(1, 1000), r.IntN(7)-3 // 10 to the exponent
	for range exponent + 3 {
		power.Mul(power, big.NewRat(10, 1))
	}
	mantissa := number.Quo(number, power).FloatString(8 + r.IntN(2)) // no digit is lost
	return mantissa + fmt.Sprintf(pick(r, "e%d", "E%+03d"), exponent)
}

func idOf(t *testing.T, row []byte) string {
	t.Helper()
	var all map[string]json.RawMessage
	if err := json.Unmarshal(row, &all); err != nil {
		t.Fatal(err)
	}
	return keyOf(t, all["id"])
}

// keyOf returns a key that is the same for all ways to write it.
func keyOf(t *testing.T, value []byte) string {
	t.Helper()
	var text string
	if json.Unmarshal(value, &text) == nil {
		return "text " + text
	}
	number, ok := new(big.Rat).SetString(string(value))
	if !ok {
		t.Fatalf("%s is no key", value)
	}
	return "number " + number.RatString()
}
