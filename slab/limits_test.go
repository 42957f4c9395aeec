package slab_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/poolswap/poolswap/slab"
)

// TestStringOfTheSlabIsSet after each number of overwritings, so that a change compacts
// the text for the second time since the string was got.
func TestStringOfTheSlabIsSet(t *testing.T) {
	const value = "0123456789"
	for name, set := range map[string]func(m *slab.Strings, held string){
		"value":     func(m *slab.Strings, held string) { m.Set("new", held) },
		"overwrite": func(m *slab.Strings, held string) { m.Set("key1", held); m.Set("new", held) },
		"key":       func(m *slab.Strings, held string) { m.Set(held, strings.Repeat("x", 40)); m.Set("new", value) },
		"all": func(m *slab.Strings, held string) {
			m.SetAll(func(yield func(k, v string) bool) { yield("new", held) })
		},
	} {
		for changes := range 400 {
			var m slab.Strings
			for i := range 20 {
				m.Set(fmt.Sprint("key", i), value)
			}
			held, _ := m.Get("key3")
			text, compacted := m.Text(), 0
			for i := range changes {
				m.Set("key5", fmt.Sprintf("%010d", i))
				if now := m.Text(); now != text {
					text, compacted = now, compacted+1
				}
			}
			if compacted > 1 {
				break // held is not valid any more
			}
			set(&m, held)
			got, ok := m.Get("new")
			if name == "key" {
				got = value
				_, ok = m.Get(value)
			}
			if got != value || !ok {
				t.Fatalf("%s, after %d changes: %q, %v", name, changes, got, ok)
			}
			if err := m.Account(); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestKeysThatDifferInOnePlace have one length, and are equal but for one byte or some.
func TestKeysThatDifferInOnePlace(t *testing.T) {
	for _, length := range []int{1, 7, 8, 9, 12, 15, 16, 17, 33, 127, 128, 200, 16384} {
		var m slab.Map[int]
		for i := range min(length, 40) {
			for _, at := range []int{i, length - 1 - i} {
				key := []byte(strings.Repeat("k", length))
				key[at] = '#'
				m.SetBytes(key, at)
			}
		}
		if want := min(length, 80); m.Len() != want {
			t.Errorf("%d keys of %d bytes, want %d", m.Len(), length, want)
		}
		for key, at := range m.All() {
			if strings.IndexByte(key, '#') != at {
				t.Errorf("of %d bytes: key %d is %.40q", length, at, key)
			}
		}
	}
}

// TestTagsOfDifferentKeys: many keys of one length in one table, so that tags are equal.
func TestTagsOfDifferentKeys(t *testing.T) {
	for _, form := range []string{"12345678%08d", "%08d12345678", "%08d" + strings.Repeat("x", 200), strings.Repeat("x", 200) + "%08d"} {
		var m slab.Map[int]
		for i := range 20_000 {
			m.Set(fmt.Sprintf(form, i), i)
		}
		wrong := 0
		for i := range 40_000 {
			if v, ok := m.Get(fmt.Sprintf(form, i)); ok != (i < 20_000) || ok && v != i {
				wrong++
			}
		}
		if wrong > 0 || m.Len() != 20_000 {
			t.Errorf("%.12s: %d of 40000 answers are wrong, of %d entries", form, wrong, m.Len())
		}
	}
}

func TestSetAllBeyondTheLimit(t *testing.T) {
	defer slab.LimitText(100)()
	var m slab.Strings
	wantPanic(t, "slab: SetAll: more than 100 bytes of keys and values in one map: share the keys out to several, by a hash of your own", func() {
		m.SetAll(func(yield func(key, value string) bool) {
			yield("one", "1")
			yield("key", strings.Repeat("x", 200))
		})
	})
	if v, ok := m.Get("one"); v != "1" || !ok || m.Len() != 1 {
		t.Errorf("%q, %v, of %d entries", v, ok, m.Len())
	}
	m.Set("two", "2")
	if err := m.Account(); err != nil {
		t.Error(err)
	}
}

// TestTextDoesNotGrowBeyondTheLimit, though it grows by half or by all of its size.
func TestTextDoesNotGrowBeyondTheLimit(t *testing.T) {
	const limit = 1500
	defer slab.LimitText(limit)()
	var m slab.Strings
	wantPanic(t, fmt.Sprintf("slab: Set: more than %d bytes of keys and values in one map: share the keys out to several, by a hash of your own", limit), func() {
		for i := range limit {
			m.Set(fmt.Sprintf("%08d", i), "12345678")
		}
	})
	if text, _ := m.Held(); text > limit {
		t.Errorf("it holds %d bytes, above %d", text, limit)
	}
}

func TestGrowBeyondTheLimit(t *testing.T) {
	for _, entries := range []int{0, 1, 2, 10} {
		for _, n := range []int{math.MaxInt, math.MaxInt - 1, slab.MaxEntries - entries + 1} {
			var m slab.Map[struct{}]
			for i := range entries {
				m.Set(fmt.Sprint(i), struct{}{})
			}
			func() {
				defer func() {
					if text := fmt.Sprint(recover()); !strings.HasPrefix(text, "slab: Grow: more than ") {
						t.Errorf("Grow(%d) with %d entries: %s", n, entries, text)
					}
				}()
				m.Grow(n)
			}()
		}
	}
}

// wantPanic fails the test unless do panics with that text.
func wantPanic(t *testing.T, text string, do func()) {
	t.Helper()
	defer func() {
		if got := fmt.Sprint(recover()); got != text {
			t.Errorf("the panic is %s, want %s", got, text)
		}
	}()
	do()
}
