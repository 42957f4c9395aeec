package main

import (
	"encoding/csv"
	"slices"
	"strings"
	"testing"
)

// checkSplit fails unless split and encoding/csv say the same of a line.
func checkSplit(t *testing.T, line string) {
	t.Helper()
	var fields [columns][]byte
	n, err := split([]byte(line), &fields)
	want, wantErr := csv.NewReader(strings.NewReader(line)).Read()
	if (err == nil) != (wantErr == nil) {
		t.Fatalf("split(%q) says %v, encoding/csv %v", line, err, wantErr)
	}
	if err != nil {
		return
	}
	var got []string
	for _, field := range fields[:min(n, columns)] {
		got = append(got, string(field))
	}
	if n != len(want) || !slices.Equal(got, want[:min(n, columns)]) {
		t.Fatalf("split(%q) = %d fields, %q; encoding/csv says %q", line, n, got, want)
	}
}

func TestSplitSaysWhatEncodingCSVSaysOfEveryShortLine(t *testing.T) {
	const letters = `a",`
	lines := []string{""}
	for range 9 {
		var longer []string
		for _, line := range lines {
			for _, letter := range letters {
				longer = append(longer, line+string(letter))
			}
		}
		for _, line := range longer {
			checkSplit(t, line)
		}
		lines = longer
	}
}

func TestSplitFindsOneEmptyFieldInAnEmptyLine(t *testing.T) {
	var fields [columns][]byte
	if n, err := split(nil, &fields); n != 1 || err != nil || len(fields[0]) != 0 {
		t.Errorf("split of an empty line = %d fields, %q, %v", n, fields[0], err)
	}
}

func FuzzSplit(f *testing.F) {
	f.Add(`1.0.0.0,1.0.0.255,13335,"Cloudflare, Inc."`)
	f.Add(`2.26.200.0,2.26.215.255,201907,"LLC ""SPUTNIK"""`)
	f.Fuzz(func(t *testing.T, line string) {
		if line != "" && !strings.ContainsAny(line, "\r\n") {
			checkSplit(t, line)
		}
	})
}
