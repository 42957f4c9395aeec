package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// runDiff compares two texts as the files old and new, in the directory that it is in.
func runDiff(t *testing.T, code int, before, after string, flags ...string) (stdout, stderr string) {
	t.Helper()
	for name, text := range map[string]string{"old": before, "new": after} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var out, says bytes.Buffer
	args := append(append([]string{"diff"}, flags...), "old", "new")
	if got := run(t.Context(), args, &out, &says); got != code {
		t.Fatalf("fleetd %s ends with %d, want %d: %s\nold %q\nnew %q", strings.Join(args, " "), got, code, &says, before, after)
	}
	if code == 0 && says.Len() > 0 || code != 0 && out.Len() > 0 {
		t.Errorf("it ends with %d, prints %q and says %q", code, &out, &says)
	}
	return out.String(), says.String()
}

func TestDiff(t *testing.T) {
	t.Chdir(t.TempDir())
	long, half := strings.Repeat("a", maxRow-1), strings.Repeat("a", maxRow/2)
	type table struct{ name, old, new, want string }
	for format, tests := range map[string][]table{
		"lines": {
			{"nothing changed", "a\nb\n", "b\na\n", ""},
			{"no rows", "", "", ""},
			{"rows come and go", "b\nc\na\n", "d\nb\n", "-a\n-c\n+d\n"},
			{"all rows go", "b\na\n", "", "-a\n-b\n"},
			{"the ends of lines differ", "a\r\nb\r\nc", "a\nb\nc\r\n", ""},
			{"the last line has a carriage return alone", "a", "a\r", ""},
			{"signs and spaces belong to the row", "+a\n -b\n", "-a\n b\n", "- -b\n+ b\n-+a\n+-a\n"},
			{"a carriage return inside, and bytes that are no text", "a\rb\n", "\xff\x00\n", "-a\rb\n+\xff\x00\n"},
			{"a line of the greatest length", "", long + "\n", "+" + long + "\n"},
		},
		"csv": {
			{"nothing changed", "id,n\na,1\nb,2\n", "id,n\nb,2\na,1\n", "op,id,n\n"},
			{"no rows", "id,n\n", "id,n", "op,id,n\n"},
			{"rows come, change and go", "id,n\nb,1\nc,1\na,1\n", "id,n\nd,1\nb,2\nc,1\n", "op,id,n\ndelete,a,\nset,b,2\nset,d,1\n"},
			{"a field ends elsewhere", "id,n,m\na,1,23\n", "id,n,m\na,12,3\n", "op,id,n,m\nset,a,12,3\n"},
			{"ends of lines, quotes and empty lines differ", "id,n\r\n\r\na,1", "id,\"n\"\n\"a\",1\n\n", "op,id,n\n"},
			{"fields with quotes, commas and lines", "id,n\n", "id,n\n\"a,\"\"b\"\"\",\"1\n\n2\"\n\" c\",\n", "op,id,n\nset,\" c\",\nset,\"a,\"\"b\"\"\",\"1\n\n2\"\n"},
			{"rows are long, but none too long", "id,n\n", "id,n\n" + half + "1,\n" + half + "2,\n", "op,id,n\nset," + half + "1,\nset," + half + "2,\n"},
			{"one column", "id\na\n", "id\nb\n", "op,id\ndelete,a\nset,b\n"},
		},
		"csv -key n": {
			{"rows come, change and go", "id,n,m\na,1,x\nb,2,x\n", "id,n,m\na,3,x\nc,2,x\n", "op,id,n,m\ndelete,,1,\nset,c,2,x\nset,a,3,x\n"},
		},
		"jsonl": {
			{"nothing changed", `{"id":1}`, " { \"id\" : 1 }\r\n", ""},
			{"no rows", "", "", ""},
			{
				"rows come, change and go", `{"id":"b","n":1}` + "\n" + `{"id":"a"}`, `{"id":"c"}` + "\n" + ` {"n": 2.0, "id":"b"}`,
				`{"op":"delete","key":"a"}` + "\n" + `{"op":"set","row":{"n":2.0,"id":"b"}}` + "\n" + `{"op":"set","row":{"id":"c"}}` + "\n",
			},
			{"a number is no string", `{"id":1}`, `{"id":"1"}`, `{"op":"set","row":{"id":"1"}}` + "\n" + `{"op":"delete","key":1}` + "\n"},
			{
				"a key is written in another way", `{"id":"a\/b"}` + "\n" + `{"id":10}` + "\n" + `{"id":0}`, `{"id":"a\u002fb"}` + "\n" + `{"id":-0}` + "\n" + `{"id":1e1}`,
				`{"op":"set","row":{"id":"a\u002fb"}}` + "\n" + `{"op":"set","row":{"id":-0}}` + "\n" + `{"op":"set","row":{"id":1e1}}` + "\n",
			},
			{"the bytes of a row stay", "", `{"id":"<\u00e9>","n":[1e2,{"id":2}],"m":" \" "}`, `{"op":"set","row":{"id":"<\u00e9>","n":[1e2,{"id":2}],"m":" \" "}}` + "\n"},
			{"a key with signs", `{"id":"<\"\\\n\u00e9\u2028"}`, "", `{"op":"delete","key":"<\"\\\né\u2028"}` + "\n"},
			{"the name of the field is escaped, others nest", `{"x":{"id":1},"y":["}",{}],"\u0069d":"a"}`, "", `{"op":"delete","key":"a"}` + "\n"},
		},
		"jsonl -key a.b": {
			{"the key is any name", `{"a.b":1,"id":2}`, `{"a.b":1,"id":3}`, `{"op":"set","row":{"a.b":1,"id":3}}` + "\n"},
		},
	} {
		for _, test := range tests {
			t.Run(format+"/"+test.name, func(t *testing.T) {
				got, _ := runDiff(t, 0, test.old, test.new, append([]string{"-format"}, strings.Fields(format)...)...)
				if got != test.want {
					t.Errorf("it prints\n%.2000q, want\n%.2000q", got, test.want)
				}
			})
		}
	}
}

func TestDiffSaysWhatIsWrong(t *testing.T) {
	t.Chdir(t.TempDir())
	long := strings.Repeat("a", maxRow)
	for _, test := range []struct{ flags, old, new, want string }{
		{"", "a\nb\na", "", "old:3: the key of the row is on line 1, too"},
		{"", "a\n", "a\nb\nc\nb\n", "new:4: the key of the row is on line 2, too"},
		{"", "a\n", "b\na\na\n", "new:3: the key of the row is on line 2, too"},
		{"", "a\n\nb\n", "", "old:2: the line is empty"},
		{"", "a\nb\r\r\n", "", "old:2: the line ends with two carriage returns"},
		{"", "a\n" + long + "\n", "", "old:2: the row is longer than 1048576 bytes"},
		{"", "a\n", "a\n" + long, "new:2: the row is longer than 1048576 bytes"},

		{"-format csv", "", "id\n", "old:1: there is no header"},
		{"-format csv -key x", "\nid,n\n", "", `old:2: the header has no column "x"`},
		{"-format csv", "id,id\n", "", `old:1: the header has the column "id" twice`},
		{"-format csv", "id,n\n", "n,id\n", "new:1: the header is another one than that of old"},
		{"-format csv", "id,n\n", "", "new:1: there is no header"},
		{"-format csv", "id,n\na,1\n,1\n", "", `old:3: the column "id" is empty`},
		{"-format csv", "id,n\na,1\n\nb,\"\n\"\na,2\n", "", "old:6: the key of the row is on line 2, too"},
		{"-format csv", "id,n\na,1,2\n", "", "old:2: wrong number of fields"},
		{"-format csv", "id,n\na,1\nb,\"\n2\"3\n", "", `old:3: extraneous or missing " in quoted-field`},
		{"-format csv", "id,n\na,1\nb,\"\n2\n", "", `old:3: extraneous or missing " in quoted-field`},
		{"-format csv", "id,n\na,1\nb,\"" + strings.Repeat("0123456\n", maxRow/8), "", "old:3: the row is longer than 1048576 bytes"},
		{"-format csv", "id,n\na,1\n" + long + ",2\n", "", "old:3: the row is longer than 1048576 bytes"},
		{"-format csv", "id,n\n\"a\r\r\n\",1\n", "", "old:2: the line ends with two carriage returns"},

		{"-format jsonl", `{"id":1}` + "\n", `{"id":1.0}` + "\n" + `{"id":10e-1}`, "new:2: the key of the row is on line 1, too"},
		{"-format jsonl", `{"id":"a"}` + "\n" + `{"id":"\u0061"}`, "", "old:2: the key of the row is on line 1, too"},
		{"-format jsonl", `{"id":1}` + "\n" + `{"n":1}`, "", `old:2: the object has no field "id", which is the key`},
		{"-format jsonl", `{"id":1,"id":1}`, "", `old:1: the object has the field "id" 2 times`},
		{"-format jsonl", `{}`, "", `old:1: the object has no field "id", which is the key`},
		{"-format jsonl", `{"id":""}`, "", `old:1: the field "id" is empty`},
		{"-format jsonl", `{"id":null}`, "", `old:1: the field "id" is neither a string nor a number`},
		{"-format jsonl", `{"id":{"id":1}}`, "", `old:1: the field "id" is neither a string nor a number`},
		{"-format jsonl", `{"id":1e401}`, "", `old:1: the field "id" has an exponent that is too large`},
		{"-format jsonl", `{"id":1e99999999999999999999}`, "", `old:1: the field "id" has an exponent that is too large`},
		{"-format jsonl", `[1]`, "", "old:1: the line is no JSON object"},
		{"-format jsonl", `{"id":1}` + "\n{", "", "old:2: unexpected end of JSON input"},
		{"-format jsonl", `{"id":1}` + "\n\n", "", "old:2: unexpected end of JSON input"},
		{"-format jsonl", `{"id":1} {"id":2}`, "", "old:1: invalid character '{' after top-level value"},
		{"-format jsonl", "{\"id\":\"\xff\"}", "", "old:1: the line is not UTF-8"},
	} {
		if _, got := runDiff(t, exitFailed, test.old, test.new, strings.Fields(test.flags)...); got != "fleetd: "+test.want+"\n" {
			t.Errorf("diff %s of %.40q and %.40q says %q, want %q", test.flags, test.old, test.new, got, test.want)
		}
	}
}

func TestDiffRefusesWrongUsage(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, test := range []struct {
		args string
		code int
		want string
	}{
		{"diff old", exitUsage, "fleetd: wrong number of arguments: 1\nusage: fleetd diff [flags] OLD NEW\n"},
		{"diff -format xml old new", exitUsage, "fleetd: the format of rows is lines, csv or jsonl, not \"xml\"\n"},
		{"diff -key a old new", exitUsage, "fleetd: a key is for csv and jsonl"},
		{"diff - -", exitUsage, "fleetd: OLD and NEW cannot both be the standard input\n"},
		{"diff old new", exitFailed, "fleetd: open old: "},
		{"diff . new", exitFailed, "fleetd: .:1: read .: "},
	} {
		var out, says bytes.Buffer
		if code := run(t.Context(), strings.Fields(test.args), &out, &says); code != test.code || !strings.HasPrefix(says.String(), test.want) || out.Len() > 0 {
			t.Errorf("%s ends with %d, prints %q and says %q, want %d and %q", test.args, code, &out, &says, test.code, test.want)
		}
	}
}

// failing is a Writer that takes nothing.
type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errors.New("the pipe is closed") }

func TestDiffOfTheStandardInput(t *testing.T) {
	file := filepath.Join(t.TempDir(), "new")
	if err := os.WriteFile(file, []byte("a\nb\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	newCall := func() *call {
		return &call{flags: flag.NewFlagSet("diff", flag.ContinueOnError), args: []string{"-", file}, stdin: strings.NewReader("b\nc\n"), stdout: failing{}}
	}
	c, out := newCall(), new(bytes.Buffer)
	c.stdout = out
	if err := diff(t.Context(), c); err != nil || out.String() != "+a\n-c\n" {
		t.Errorf("it prints %q and returns %v", out, err)
	}
	if err := diff(t.Context(), newCall()); err == nil || err.Error() != "fleetd: the pipe is closed" {
		t.Errorf("if nothing can be written, it returns %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := diff(ctx, newCall()); !errors.Is(err, context.Canceled) {
		t.Errorf("after a signal it returns %v", err)
	}
}
