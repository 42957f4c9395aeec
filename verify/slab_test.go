package verify

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/poolswap/poolswap/slab"
)

// stringMap is a slab.Strings, the Go map that it must equal, and the strings that it
// returned in this life, which must stay as they are.
type stringMap struct {
	m    slab.Strings
	want map[string]string
	held []heldString
}

// heldString is a string of a slab, and a copy of it.
type heldString struct{ got, want string }

// set ends what is held if it makes a string dead: Set may compact the slab twice.
func (s *stringMap) set(key, value string) {
	if _, there := s.want[key]; there {
		s.held = nil
	}
	s.want[strings.Clone(key)] = strings.Clone(value)
	s.m.Set(key, value)
}

// hold keeps the key and the value of an entry.
func (s *stringMap) hold(key, value string) {
	s.held = append(s.held, heldString{key, strings.Clone(key)}, heldString{value, strings.Clone(value)})
}

// slabMachine has two maps, so that one is copied from the other.
type slabMachine struct{ maps [2]*stringMap }

func (m *slabMachine) Check(t *rapid.T) {
	for _, s := range m.maps {
		if got := maps.Collect(s.m.All()); !maps.Equal(got, s.want) || s.m.Len() != len(s.want) {
			t.Fatalf("All has %q, Len is %d, want %q", got, s.m.Len(), s.want)
		}
		for key, want := range s.want {
			if got, ok := s.m.Get(key); !ok || got != want {
				t.Fatalf("Get(%q) is %q, %v, want %q", key, got, ok, want)
			}
		}
		for _, h := range s.held {
			if h.got != h.want {
				t.Fatalf("a string turned from %q to %q before the end of its life", h.want, h.got)
			}
		}
	}
}

func (m *slabMachine) draw(t *rapid.T) *stringMap { return rapid.SampledFrom(m.maps[:]).Draw(t, "map") }

// text draws one of few keys, so that operations meet: empty, with zero bytes, and
// with lengths of one, two and three bytes.
func text(t *rapid.T, label string) string {
	return rapid.OneOf(
		rapid.StringOfN(rapid.RuneFrom([]rune("a\x00")), 0, 4, -1),
		rapid.Map(rapid.SampledFrom([]int{126, 127, 128, 129, 16_383, 16_384}), func(n int) string { return strings.Repeat("l", n) }),
		rapid.Map(rapid.IntRange(0, 400), func(n int) string { return strings.Repeat("k", n%3) + string(rune('A'+n)) }),
	).Draw(t, label)
}

func (m *slabMachine) Set(t *rapid.T) { m.draw(t).set(text(t, "key"), text(t, "value")) }

func (m *slabMachine) SetMany(t *rapid.T) {
	s := m.draw(t)
	for _, r := range rapid.SliceOfN(rapid.IntRange(0, 400), 0, 60).Draw(t, "keys") {
		s.set("many"+string(rune('A'+r)), "v")
	}
}

func (m *slabMachine) SetOwnStrings(t *rapid.T) {
	s := m.draw(t)
	if len(s.want) == 0 {
		t.Skip("the map is empty")
	}
	chosen := rapid.SampledFrom(slices.Sorted(maps.Keys(s.want))).Draw(t, "key")
	for key, value := range s.m.All() {
		if key == chosen {
			s.hold(key, value)
			s.set(value, key)
			return
		}
	}
}

func (m *slabMachine) Get(t *rapid.T) {
	s, key := m.draw(t), text(t, "key")
	got, ok := s.m.GetBytes([]byte(key))
	want, there := s.want[key]
	if got != want || ok != there {
		t.Fatalf("Get(%q) is %q, %v, want %q, %v", key, got, ok, want, there)
	}
	s.hold("", got)
}

func (m *slabMachine) Delete(t *rapid.T) {
	s, key := m.draw(t), text(t, "key")
	s.m.Delete(key)
	delete(s.want, key)
	s.held = nil
}

func (m *slabMachine) DeleteMany(t *rapid.T) {
	s := m.draw(t)
	for _, key := range slices.Sorted(maps.Keys(s.want))[:rapid.IntRange(0, len(s.want)).Draw(t, "n")] {
		s.m.Delete(key)
		delete(s.want, key)
	}
	s.held = nil
}

func (m *slabMachine) Grow(t *rapid.T) { m.draw(t).m.Grow(rapid.IntRange(0, 100).Draw(t, "n")) }

func (m *slabMachine) Compact(t *rapid.T) {
	s := m.draw(t)
	s.m.Compact()
	s.held = nil
}

func (m *slabMachine) Copy(t *rapid.T) {
	to, from := m.draw(t), m.draw(t)
	to.m.CopyFrom(&from.m)
	if to != from {
		to.want, to.held = maps.Clone(from.want), nil
	}
}

func (m *slabMachine) Reset(t *rapid.T) {
	s := m.draw(t)
	s.m.Reset()
	clear(s.want)
	s.held = nil
}

// TestSlabIsAMap compares random operations with those of Go maps.
func TestSlabIsAMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := &slabMachine{[2]*stringMap{{want: map[string]string{}}, {want: map[string]string{}}}}
		t.Repeat(rapid.StateMachineActions(m))
	})
}
