package results

import (
	"runtime"
	"testing"
)

func TestParseTicks(t *testing.T) {
	const machine = "cpu  100 10 20 500 50 3 4 13 7 0\ncpu0 1 1 1 1\n"
	const self = "42 (a) b (c) S 1 42 42 0 -1 4194560 9 9 9 9 60 5 4 1 20 0 7 0 99 1 1\n"
	got, ok := parseTicks(machine, self)
	if want := (ticks{all: 700, busy: 150, own: 70}); !ok || got != want {
		t.Errorf("%+v %v, want %+v", got, ok, want)
	}
	for name, c := range map[string][2]string{
		"an empty machine":  {"", self},
		"a short line":      {"cpu 1 2 3 4\n", self},
		"a word":            {"cpu 1 2 3 4 5 6 seven 8\n", self},
		"an empty process":  {machine, ""},
		"words in the self": {machine, "42 (x) S 1 42 42 0 -1 4194560 9 9 9 9 a b c d\n"},
	} {
		if _, ok := parseTicks(c[0], c[1]); ok {
			t.Errorf("%s is taken for times", name)
		}
	}
}

// TestOwnTimeIsNotOthers: what this process burns is not counted as others'.
func TestOwnTimeIsNotOthers(t *testing.T) {
	if runtime.GOOS != "linux" {
		if got := WatchOthers()(); got != -1 {
			t.Errorf("%v, where nothing is told", got)
		}
		return
	}
	before, ok := readTicks()
	if !ok {
		t.Fatal("/proc is not as it should be")
	}
	share := WatchOthers()
	after := before
	for after.own == before.own { // ends once the work done here is seen
		after, _ = readTicks()
	}
	if after.busy < before.busy || after.all < before.all {
		t.Errorf("times go back: %+v, then %+v", before, after)
	}
	if got := share(); got > 1 {
		t.Errorf("the share of others is %v", got)
	}
}
