package main

import (
	"strings"
	"testing"
)

func TestArguments(t *testing.T) {
	for _, c := range []struct{ arguments, want string }{
		{"", "0 arguments"},
		{"PoolSwap 1 1", "3 arguments"},
		{"Nothing 1 1 0", `no way "Nothing"`},
		{"PoolSwap 0 1 0", `"0" is not a number from 1`},
		{"PoolSwap 1 x 0", `"x" is not a number from 1`},
		{"PoolSwap 1 1 -1", `"-1" is not a number from 0`},
	} {
		var stdout strings.Builder
		err := run(strings.Fields(c.arguments), &stdout)
		if err == nil || !strings.Contains(err.Error(), c.want) || stdout.Len() > 0 {
			t.Errorf("%q: %v, want %q; prints %q", c.arguments, err, c.want, stdout.String())
		}
	}
}

func TestSampleIsOneLine(t *testing.T) {
	var stdout strings.Builder
	if err := run(strings.Fields("Reader.Load 1 2 1000"), &stdout); err != nil {
		t.Fatal(err)
	}
	line := stdout.String()
	if !strings.HasPrefix(line, "Reader.Load ") || strings.Count(line, "\n") != 1 || !strings.HasSuffix(line, " objects\n") || len(strings.Fields(line)) < 8 {
		t.Errorf("prints %q", line)
	}
}
