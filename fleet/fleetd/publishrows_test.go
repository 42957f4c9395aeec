package main

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/poolswap/poolswap/fleet"
	"github.com/poolswap/poolswap/oplog/lthash"
)

// rowsFile is a table as a file: its lines, and the bytes of each row that are hashed.
type rowsFile struct {
	head string
	line func(key, value string) string
	hash func(key, value string) []byte
	set  func(line string) (key, value string, removed bool) // of a delta
}

var rowsFiles = map[string]rowsFile{
	"lines": {
		line: func(key, value string) string { return key + " " + value },
		hash: func(key, value string) []byte { return []byte(key + " " + value) },
		set: func(line string) (key, value string, removed bool) {
			key, value, _ = strings.Cut(line[1:], " ")
			return key, value, line[0] == '-'
		},
	},
	"csv:id": {
		head: "n,id\n",
		line: func(key, value string) string { return `"` + value + `",` + key },
		hash: func(key, value string) (all []byte) {
			for _, field := range []string{value, key} {
				all = append(binary.BigEndian.AppendUint32(all, uint32(len(field))), field...)
			}
			return all
		},
		set: func(line string) (key, value string, removed bool) {
			fields := strings.Split(line, ",")
			return fields[2], fields[1], fields[0] == "delete"
		},
	},
	"jsonl": {
		line: func(key, value string) string { return fmt.Sprintf(` {"n": %q, "id" : %q}`, value, key) },
		hash: func(key, value string) []byte { return fmt.Appendf(nil, `{"n":%q,"id":%q}`, value, key) },
		set: func(line string) (key, value string, removed bool) {
			if n, _ := fmt.Sscanf(line, `{"op":"delete","key":%q}`, &key); n == 1 {
				return key, "", true
			}
			fmt.Sscanf(line, `{"op":"set","row":{"n":%q,"id":%q}}`, &value, &key)
			return key, value, false
		},
	},
}

// state returns the digest of a table, made from nothing.
func (f rowsFile) state(table map[string]string) string {
	var h lthash.Hash
	for key, value := range table {
		h.Add(f.hash(key, value))
	}
	return fmt.Sprintf("%x", h.Sum())
}

// apply changes table by a delta as a replica would. A replica of lines has the old line
// as the key: here, the word before the space is one.
func (f rowsFile) apply(t *testing.T, table map[string]string, delta string) {
	for line := range strings.Lines(strings.TrimPrefix(delta, "op,"+f.head)) {
		key, value, removed := f.set(strings.TrimSuffix(line, "\n"))
		switch {
		case key == "":
			t.Fatalf("%q in a delta", line)
		case !removed:
			table[key] = value
		case value == "" || table[key] == value: // of lines, the new one may come first
			delete(table, key)
		}
	}
}

// TestPublishRows publishes tables that change at random, by their rows alone. Each
// revision has the digest of its rows, and its deltas lead there.
func TestPublishRows(t *testing.T) {
	in := newInstance(t)
	client, err := fleet.NewClient(in.url, fleet.ClientOptions{TokenFile: in.admin})
	if err != nil {
		t.Fatal(err)
	}
	defer client.CloseIdleConnections()
	for format, f := range rowsFiles {
		name := strings.ReplaceAll(format, ":", "-")
		r := rand.New(rand.NewPCG(5, 5))
		table, base, deltas, snapshots := map[string]string{}, "", 0, 0
		for i := range 100 {
			table[fmt.Sprint("row", i)] = "value"
		}
		for i := range 12 {
			for range r.IntN(8) * i { // more and more, and once none
				if key := fmt.Sprint("row", r.IntN(120)); r.IntN(3) == 0 {
					delete(table, key)
				} else {
					table[key] = fmt.Sprint(r.IntN(9))
				}
			}
			text := f.head
			for key := range table { // in any order
				text += f.line(key, table[key]) + "\n"
			}
			args := []string{"publish", "-new", "-rows", format}
			if base != "" {
				args = append(args, "-delta-from", base)
			}
			out, says := in.run(0, append(args, name, in.file(text))...)
			id := strings.TrimSpace(strings.SplitN(out, "\n", 2)[0])
			r := revisionOf(t, client, name, id)
			if r.State != f.state(table) {
				t.Fatalf("%s, %d: the state is %q, want %q", format, i, r.State, f.state(table))
			}
			if id == base && !strings.Contains(says, "no row differs") {
				t.Errorf("%s, %d: it says %q", format, i, says)
			}
			switch {
			case id == base:
			case r.Base == "":
				snapshots++
				if base != "" && !strings.Contains(says, fmt.Sprintf("a snapshot is due, so all %d rows are stored", len(table))) {
					t.Errorf("%s, %d: it says %q", format, i, says)
				}
			default:
				if deltas++; r.Base != base {
					t.Errorf("%s, %d: it is on %q, want %q", format, i, r.Base, base)
				}
			}
			if got := f.follow(t, client, name, r); !maps.Equal(got, table) {
				t.Fatalf("%s, %d: replicas get\n%v, want\n%v", format, i, got, table)
			}
			base = id
		}
		if deltas < 3 || snapshots < 2 {
			t.Errorf("%s: %d deltas and %d snapshots", format, deltas, snapshots)
		}
	}
}

func revisionOf(t *testing.T, client *fleet.Client, name, id string) fleet.Revision {
	controller, err := fleet.NewController(client, name)
	if err != nil {
		t.Fatal(err)
	}
	all, err := controller.Revisions(t.Context())
	i := slices.IndexFunc(all, func(one fleet.Stored) bool { return one.ID == id })
	if err != nil || i < 0 {
		t.Fatalf("%q is not stored: %v", id, err)
	}
	return all[i].Revision
}

// follow returns the table to which the chain of a revision leads.
func (f rowsFile) follow(t *testing.T, client *fleet.Client, name string, r fleet.Revision) map[string]string {
	chain, err := client.Chain(context.Background(), name, r, "")
	if err != nil {
		t.Fatal(err)
	}
	table := map[string]string{}
	for _, one := range chain {
		content, err := client.Content(t.Context(), name, one)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(content)
		content.Close()
		if err != nil {
			t.Fatal(err)
		}
		if one.Base != "" {
			f.apply(t, table, string(text))
			continue
		}
		for line := range strings.Lines(strings.TrimPrefix(string(text), f.head)) {
			key, value := f.whole(strings.TrimSuffix(line, "\n"))
			table[key] = value
		}
	}
	return table
}

// whole takes a line of a whole file apart.
func (f rowsFile) whole(line string) (key, value string) {
	switch {
	case f.head != "":
		value, key, _ = strings.Cut(line, ",")
		return key, strings.Trim(value, `"`)
	case line[0] == ' ':
		fmt.Sscanf(line, ` {"n": %q, "id" : %q}`, &value, &key)
		return key, value
	}
	key, value, _ = strings.Cut(line, " ")
	return key, value
}

func TestPublishRowsSaysWhatIsWrong(t *testing.T) {
	in := newInstance(t)
	stored, _ := in.run(0, "publish", "-new", "table", in.file(strings.Repeat("id,n\n", 20)))
	for _, one := range []struct{ args, text, want string }{
		{"-rows xml", "a", `the format of rows is lines, csv or jsonl, not "xml"`},
		{"-rows csv:x", "id\n1\n", `the header has no column "x"`},
		{"-rows csv", "id\n1\n1\n", "the key of the row is on line 2, too"},
		{"-rows csv -delta-from none", "id\n1\n", `revision "none" of table is not stored`},
		{"-rows csv -delta-from " + strings.Fields(stored)[0], "id,n\n1,2\n", "the key of the row is on line 2, too"},
	} {
		args := append(append([]string{"publish"}, strings.Fields(one.args)...), "table", in.file(one.text))
		if _, says := in.run(1, args...); !strings.Contains(says, one.want) {
			t.Errorf("%s says %q, want %q", one.args, says, one.want)
		}
	}
}

// A script whose variable is not set does not publish the changes as the whole.
func TestPublishRefusesEmptyFlags(t *testing.T) {
	in := newInstance(t)
	changes := in.file("+row")
	for _, flag := range []string{"-delta-from", "-rows"} {
		if _, says := in.run(2, "publish", "-new", flag, "", "table", changes); !strings.Contains(says, "it is empty") {
			t.Errorf("%s of nothing says %q", flag, says)
		}
	}
}
