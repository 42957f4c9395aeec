package slab_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/poolswap/poolswap/slab"
)

// checkStrings fails unless m holds the entries of want and nothing else.
func checkStrings(t *testing.T, m *slab.Strings, want map[string]string) {
	t.Helper()
	if m.Len() != len(want) {
		t.Fatalf("%d entries, want %d", m.Len(), len(want))
	}
	for key, value := range want {
		if got, ok := m.Get(key); !ok || got != value {
			t.Fatalf("Get(%q) is %q, %v, want %q", key, got, ok, value)
		}
	}
	all := 0
	for key, value := range m.All() {
		if all++; want[key] != value {
			t.Fatalf("All has %q with %q, want %q", key, value, want[key])
		}
	}
	if all != len(want) {
		t.Fatalf("All has %d entries, want %d", all, len(want))
	}
}

// randomKey returns one of few keys, so that operations meet: short and long, empty,
// with zero bytes.
func randomKey(r *rand.Rand) string {
	n := r.IntN(200)
	switch n % 4 {
	case 0:
		return strings.Repeat("k", n)
	case 1:
		return strings.Repeat("\x00", n/4)
	}
	return fmt.Sprint(n)
}

// TestStringsIsAMap compares random operations with those of a Go map.
func TestStringsIsAMap(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 1))
		m, other := new(slab.Strings), new(slab.Strings)
		want, wantOther := map[string]string{}, map[string]string{}
		for range 600 {
			key := randomKey(r)
			switch n := r.IntN(100); {
			case n < 40:
				value := strings.Repeat("v", r.IntN(20)) + key
				m.Set(key, value)
				want[key] = value
			case n < 50:
				m.SetBytes([]byte(key), []byte{byte(n)})
				want[key] = string([]byte{byte(n)})
			case n < 60: // a value, and a key, of the same slab
				from, ok := m.Get(randomKey(r))
				if _, there := want[key]; ok {
					m.Set(from, from)
					want[strings.Clone(from)] = strings.Clone(from)
				} else if there {
					value, _ := m.Get(key)
					m.Set(key+"+", value)
					want[key+"+"] = want[key]
				}
			case n < 85:
				m.Delete(key)
				delete(want, key)
			case n < 87: // many, some of them twice, and with keys that are there
				rows := make(map[string]string)
				again := strings.Repeat("again", r.IntN(3))
				for range r.IntN(120) {
					rows[randomKey(r)] = fmt.Sprint(n)
				}
				buffer := []byte(nil)
				m.SetAllBytes(func(yield func(key, value []byte) bool) {
					for _, value := range []string{again, ""} {
						for k, v := range rows {
							buffer = append(append(append(buffer[:0], k...), v...), value...)
							yield(buffer[:len(k)], buffer[len(k):])
						}
					}
				})
				maps.Copy(want, rows)
			case n < 88:
				m.Grow(r.IntN(50))
			case n < 91:
				m.Compact()
			case n < 94:
				m, other, want, wantOther = other, m, wantOther, want
			case n < 97:
				m.CopyFrom(other)
				want = maps.Clone(wantOther)
			case n < 98:
				m.CopyFrom(m)
			case n < 99:
				m.Reset()
				clear(want)
			}
			if err := m.Account(); err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			if got, ok := m.GetBytes([]byte(key)); ok != mapHas(want, key) || got != want[key] {
				t.Fatalf("seed %d: GetBytes(%q) is %q, %v, want %q", seed, key, got, ok, want[key])
			}
		}
		checkStrings(t, m, want)
		checkStrings(t, other, wantOther)
	}
}

func mapHas[V any](m map[string]V, key string) bool { _, ok := m[key]; return ok }

func TestStringsKeepsAnEmptyKeyAndZeroBytes(t *testing.T) {
	var m slab.Strings
	want := map[string]string{"": "empty", "\x00": "zero", "\x00\x00": "", "a\x00b": "\x00"}
	for key, value := range want {
		if _, ok := m.Get(key); ok {
			t.Errorf("%q is there before", key)
		}
		m.Set(key, value)
	}
	checkStrings(t, &m, want)
	m.Delete("")
	delete(want, "")
	checkStrings(t, &m, want)
}

// A map that is changed for ever, and never reset, stays as large as it must be.
func TestStringsWithoutResetIsBounded(t *testing.T) {
	const keys, length = 1000, 20
	for name, change := range map[string]func(m *slab.Strings, r *rand.Rand, n int){
		"overwriting": func(m *slab.Strings, r *rand.Rand, n int) {
			m.Set(fmt.Sprint(r.IntN(keys)), fmt.Sprintf("%0*d", length, n))
		},
		"deleting": func(m *slab.Strings, r *rand.Rand, n int) {
			m.Delete(fmt.Sprint(n - keys))
			m.Set(fmt.Sprint(n), fmt.Sprintf("%0*d", length, n))
		},
	} {
		t.Run(name, func(t *testing.T) {
			var m slab.Strings
			r := rand.New(rand.NewPCG(1, 2))
			lives := 1_000_000
			if testing.Short() {
				lives /= 10
			}
			for n := range lives {
				change(&m, r, n)
			}
			text, slots := m.Held()
			if most := 2 * 3 * keys * (length + 7); text > most {
				t.Errorf("%d entries hold %d bytes of text, want %d at most", m.Len(), text, most)
			}
			if most := 2 * 16 * keys * 2; slots > most {
				t.Errorf("%d entries hold %d bytes of slots, want %d at most", m.Len(), slots, most)
			}
			if m.Len() > keys {
				t.Errorf("%d entries", m.Len())
			}
		})
	}
}

func TestStringsAllocatesNothingOnceWarm(t *testing.T) {
	if debugging {
		t.Skip("each life has mappings of its own")
	}
	var keys [][]byte
	for n := range 1000 {
		keys = append(keys, fmt.Appendf(nil, "key-%d", n))
	}
	var m, copied slab.Strings
	load := func() {
		m.Reset()
		for _, key := range keys {
			m.SetBytes(key, key[:3])
		}
		copied.CopyFrom(&m)
		for _, key := range keys {
			if value, ok := copied.GetBytes(key); !ok || value != "key" {
				t.Fatalf("%s has %q, %v", key, value, ok)
			}
		}
	}
	load()
	if allocations := testing.AllocsPerRun(50, load); allocations != 0 {
		t.Errorf("%v allocations", allocations)
	}
}

func TestStringsGivesUpMemoryThatNoLifeNeeds(t *testing.T) {
	var m slab.Strings
	for n := range 10_000 {
		m.Set(fmt.Sprint(n), "some value")
	}
	before, slots := m.Held()
	for range 40 {
		m.Reset()
		m.Set("key", "value")
	}
	if after, slotsAfter := m.Held(); after > before/10 || slotsAfter > slots/10 {
		t.Errorf("%d bytes of text and %d of slots after %d and %d", after, slotsAfter, before, slots)
	}
	checkStrings(t, &m, map[string]string{"key": "value"})
}

func TestStringsRefusesMoreTextThanItsPlaces(t *testing.T) {
	defer slab.LimitText(100)()
	var m slab.Strings
	m.Set("key", strings.Repeat("v", 80))
	func() {
		defer func() {
			if text := fmt.Sprint(recover()); !strings.Contains(text, "slab: Set: more than 100 bytes of keys and values in one map") {
				t.Errorf("Set panics with %s", text)
			}
		}()
		m.Set("other", strings.Repeat("v", 10))
	}()
	checkStrings(t, &m, map[string]string{"key": strings.Repeat("v", 80)})
	m.Set("key", "v") // the dead bytes make room
	m.Set("other", strings.Repeat("v", 10))
	checkStrings(t, &m, map[string]string{"key": "v", "other": strings.Repeat("v", 10)})
}

// TestSetAllKeepsWhatCameBeforeItsEnd: the loop panics, or changes the map.
func TestSetAllKeepsWhatCameBeforeItsEnd(t *testing.T) {
	var m slab.Strings
	m.Set("key", "value")
	for _, c := range []struct {
		name string
		do   func()
		says string
	}{
		{"its panic", func() { panic("no more rows") }, "no more rows"},
		{"Reset", m.Reset, "slab: Reset of a map inside its SetAll"},
		{"CopyFrom", func() { m.CopyFrom(new(slab.Strings)) }, "slab: CopyFrom of a map inside its SetAll"},
		{"SetAll", func() { m.SetAll(maps.All(map[string]string{"a": "b"})) }, "slab: SetAll of a map inside its SetAll"},
		{"Compact", m.Compact, "slab: Compact of a map inside its SetAll"},
		{"Set", func() { m.Set("one", "two") }, "slab: Set of a map inside its SetAll"},
		{"Delete", func() { m.Delete("key") }, "slab: Delete of a map inside its SetAll"},
		{"Grow", func() { m.Grow(1000) }, "slab: Grow of a map inside its SetAll"},
		{"a copy", func() { new(slab.Strings).CopyFrom(&m) }, "slab: CopyFrom of a map inside its SetAll"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m.Set("key", "value")
			func() {
				defer func() {
					if text := recover(); text != c.says {
						t.Errorf("panics with %v, want %q", text, c.says)
					}
				}()
				m.SetAll(func(yield func(key, value string) bool) {
					yield("one", c.name)
					c.do()
				})
			}()
			if got, _ := m.Get("one"); got != c.name {
				t.Errorf("the row before it is %q", got)
			}
			if err := m.Account(); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestSetAllAllocatesNothingOnceWarm but what the loop itself does.
func TestSetAllAllocatesNothingOnceWarm(t *testing.T) {
	if debugging {
		t.Skip("each life has a mapping of its own")
	}
	var (
		m     slab.Strings
		n     slab.Map[int]
		keys  [1000]string
		pairs = func(yield func(key, value string) bool) {
			for _, key := range keys {
				yield(key, key)
			}
		}
		numbers = func(yield func(key string, v int) bool) {
			for i, key := range keys {
				yield(key, i)
			}
		}
	)
	for i := range keys {
		keys[i] = fmt.Sprint("key ", i)
	}
	load := func() {
		m.Reset()
		m.SetAll(pairs)
		n.Reset()
		n.SetAll(numbers)
	}
	load()
	if allocations := testing.AllocsPerRun(100, load); allocations != 0 {
		t.Errorf("%v allocations a load", allocations)
	}
	if m.Len() != len(keys) || n.Len() != len(keys) {
		t.Errorf("%d and %d entries, want %d", m.Len(), n.Len(), len(keys))
	}
	for i, key := range keys {
		if v, _ := n.Get(key); v != i {
			t.Fatalf("%q has %d, want %d", key, v, i)
		}
	}
}

// TestStringsCopiedIntoANewMap has pairs, before the first Set of its own.
func TestStringsCopiedIntoANewMap(t *testing.T) {
	var from, m slab.Strings
	from.Set("a", "value of a")
	from.Set("b", "value of b")
	m.CopyFrom(&from)
	m.Delete("a")
	m.Compact()
	checkStrings(t, &m, map[string]string{"b": "value of b"})
	m.Delete("b") // its bytes stay
	m.CopyFrom(&from)
	checkStrings(t, &m, map[string]string{"a": "value of a", "b": "value of b"})
}

// A string of before a growth or one compaction stays as it is until Reset.
func TestStringsOfALifeStay(t *testing.T) {
	var m slab.Strings
	m.Set("first", "value")
	first, _ := m.Get("first")
	for n := range 10_000 {
		m.Set(fmt.Sprint(n), "another value")
	}
	if first != "value" {
		t.Errorf("it turned to %q", first)
	}
}
