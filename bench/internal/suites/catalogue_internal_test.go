package suites

import (
	"os"
	"testing"
	"time"

	"github.com/poolswap/poolswap/bench/internal/rivals"
)

func TestAReaderSeesAWriterInItsObject(t *testing.T) {
	f := catalogueFunctions(100)
	c := f.New()
	f.Fill(&c)
	f.Reset(&c)
	f.Fill(&c)
	if err := c.look("key-42", 42); err != nil {
		t.Fatal(err)
	}
	if err := c.look("key-42", 43); err == nil {
		t.Error("another record passes")
	}
	c.data[43*recordBytes-1]++
	if err := c.look("key-42", 42); err == nil {
		t.Error("a record of two fills passes")
	}
	f.Reset(&c)
	if err := c.look("key-41", 41); err == nil {
		t.Error("an object that is empty passes")
	}
}

func TestParseStatm(t *testing.T) {
	for line, want := range map[string]int{"61 52 3 4 0 6 0\n": 52, "1234567 890123 1 1 1 1 1\n": 890123} {
		if bytes, ok := parseStatm(line); !ok || bytes != float64(want*os.Getpagesize()) {
			t.Errorf("%q: %v %v, want %v pages", line, bytes, ok, want)
		}
	}
	for _, line := range []string{"", "12", "12 ", "a b c", "12 x 3"} {
		if bytes, ok := parseStatm(line); ok {
			t.Errorf("%q is taken for %v bytes", line, bytes)
		}
	}
}

// stalling is a rival that stops its readers for a while, once.
type stalling struct {
	rivals.Shared[catalogue]
	reads int
}

const stall = 50 * time.Millisecond

func (s *stalling) Acquire() *rivals.Object[catalogue] {
	if s.reads++; s.reads == 100 {
		time.Sleep(stall)
	}
	return s.Shared.Acquire()
}

// One read that takes 50 ms delays the 500 that are due meanwhile: all of them are
// late, and not that one alone.
func TestReadsThatWaitForAnotherCount(t *testing.T) {
	f := catalogueFunctions(100)
	s := &stalling{Shared: rivals.New("AtomicPtr", f, 0)}
	f.Replace(s)
	r := steadyReader{shared: s, keys: newEntries(100).keys, histogram: newHistogram()}
	if reads := r.serve(100*time.Millisecond, 0); reads != 1000 || r.failed != nil {
		t.Fatalf("%d reads of 1000: %v", reads, r.failed)
	}
	if least := int64(stall/(time.Second/readsPerSecond)) - 10; r.late < least {
		t.Errorf("%d reads were late, want %d at least", r.late, least)
	}
	if longest := time.Duration(r.histogram.Max()); longest < stall*99/100 {
		t.Errorf("the longest read took %v, want %v at least", longest, stall)
	}
}
