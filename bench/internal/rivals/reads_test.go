package rivals

import (
	"strings"
	"testing"
	"time"
)

// TestEveryWay lets goroutines read each way while a writer swaps. What they see
// is checked in batch and value, which the tests below see fail.
func TestEveryWay(t *testing.T) {
	for name, share := range Reads {
		t.Run(name, func(t *testing.T) {
			s := share()
			reader := s.reader()
			defer reader.close()
			if value := reader.value(); value != 1 {
				t.Errorf("the first value is %d", value)
			}
			for value := uint64(2); value < 20; value++ {
				s.swap(value)
				if got := reader.value(); got != value {
					t.Errorf("%d after a swap to %d", got, value)
				}
			}
			const reads = 1000
			if sum := reader.sum(reads); sum != reads*19 {
				t.Errorf("%d reads of 19 add up to %d", reads, sum)
			}
			sample := Read(share(), 2, 4*time.Millisecond, 1000)
			if sample.Iterations < 1 || sample.Values["ns/op"] <= 0 {
				t.Errorf("%+v", sample)
			}
			if sample := Read(share(), 1, time.Millisecond, 0); sample.Values["swaps/s"] != 0 {
				t.Errorf("swaps without a writer: %+v", sample)
			}
		})
	}
}

// wantReadPanic calls f, which must panic with that text.
func wantReadPanic(t *testing.T, text string, f func()) {
	t.Helper()
	defer func() {
		if message, _ := recover().(string); !strings.Contains(message, text) {
			t.Errorf("panics with %q, want %q", message, text)
		}
	}()
	f()
}

func TestWrongObjectIsSeen(t *testing.T) {
	for name, change := range map[string]func(*Words){
		"freed":   func(w *Words) { w.set(freed) },
		"empty":   func(w *Words) { w.set(0) },
		"torn":    func(w *Words) { w[7]++ },
		"earlier": func(w *Words) { w[0]-- },
	} {
		t.Run(name, func(t *testing.T) {
			var w Words
			w.set(5)
			if w.value() != 5 {
				t.Error("a good object is refused")
			}
			change(&w)
			wantReadPanic(t, "in one object", func() { w.value() })
		})
	}
}

// TestWrongSumIsSeen has a reader whose reads do not see what they may.
func TestWrongSumIsSeen(t *testing.T) {
	for _, c := range []struct {
		name          string
		before, after uint64
		sum           uint64
		wrong         bool
	}{
		{"all of one value", 7, 7, 700, false},
		{"values in between", 7, 9, 801, false},
		{"an old one", 7, 7, 699, true},
		{"a new one before its time", 7, 7, 701, true},
		{"a freed one", 7, 9, 7*99 + freed, true},
		{"an empty one", 7, 7, 7 * 99, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			values := []uint64{c.before, c.after}
			r := reader{
				sum: func(int) uint64 { return c.sum },
				with: func(use func(*Words)) {
					var w Words
					w.set(values[0])
					values = values[1:]
					use(&w)
				},
			}
			if c.wrong {
				wantReadPanic(t, "add up to", func() { r.batch(100) })
			} else {
				r.batch(100)
			}
		})
	}
}
