package stringmaps

import (
	"github.com/cockroachdb/swiss"

	"github.com/poolswap/poolswap/slab"
)

// Map is one way. Each has loops of its own, so that its calls are direct.
type Map interface {
	LoadBytes(r *Rows)           // empties the map and fills it with copies of the bytes
	LoadStrings(r *Rows)         // the same from strings, which a Go map can keep
	Get(keys []string) (sum int) // of a byte of each value
	All() (sum int)              // of a byte of each key and value
}

// Names are the names that New knows, in the order in which suites show them.
var Names = []string{"Strings", "MapNew", "MapCleared", "MapOfSlab", "Swiss"}

// New returns an empty map of that name: slab.Strings; a Go map made for each load, one
// that is cleared, and one that is cleared and whose strings lie in a slab.Bytes; and
// the cleared map of github.com/cockroachdb/swiss.
func New(name string) Map {
	return map[string]func() Map{
		"Strings":    func() Map { return new(inSlab) },
		"MapNew":     func() Map { return new(newMap) },
		"MapCleared": func() Map { return &clearedMap{plain: plain{m: map[string]string{}}} },
		"MapOfSlab":  func() Map { return &mapOfSlab{plain: plain{m: map[string]string{}}} },
		"Swiss":      func() Map { return &swissMap{m: swiss.New[string, string](1)} }, // it must not be cleared while its capacity is 0
	}[name]()
}

// byteOf returns 1 and a byte of s, and 0 for no string: a reader reads the strings that it finds.
func byteOf(s string) int {
	if s == "" {
		return 0
	}
	return int(s[0]) + 1
}

type inSlab struct{ m slab.Strings }

func (s *inSlab) LoadBytes(r *Rows) {
	s.m.Reset()
	s.m.SetAllBytes(func(yield func(key, value []byte) bool) {
		for i, key := range r.KeyBytes {
			yield(key, r.ValueBytes[i])
		}
	})
}

func (s *inSlab) LoadStrings(r *Rows) {
	s.m.Reset()
	s.m.SetAll(func(yield func(key, value string) bool) {
		for i, key := range r.Keys {
			yield(key, r.Values[i])
		}
	})
}

func (s *inSlab) Get(keys []string) (sum int) {
	for _, key := range keys {
		value, _ := s.m.Get(key)
		sum += byteOf(value)
	}
	return sum
}

func (s *inSlab) All() (sum int) {
	for key, value := range s.m.All() {
		sum += byteOf(key) + byteOf(value)
	}
	return sum
}

// plain reads a Go map.
type plain struct{ m map[string]string }

func (p *plain) Get(keys []string) (sum int) {
	for _, key := range keys {
		sum += byteOf(p.m[key])
	}
	return sum
}

func (p *plain) All() (sum int) {
	for key, value := range p.m {
		sum += byteOf(key) + byteOf(value)
	}
	return sum
}

func (p *plain) loadBytes(r *Rows) {
	for i, key := range r.KeyBytes {
		p.m[string(key)] = string(r.ValueBytes[i])
	}
}

func (p *plain) LoadStrings(r *Rows) {
	for i, key := range r.Keys {
		p.m[key] = r.Values[i]
	}
}

type newMap struct{ plain }

func (n *newMap) LoadBytes(r *Rows) {
	n.m = make(map[string]string, len(r.Keys))
	n.loadBytes(r)
}

func (n *newMap) LoadStrings(r *Rows) {
	n.m = make(map[string]string, len(r.Keys))
	n.plain.LoadStrings(r)
}

type clearedMap struct{ plain }

func (c *clearedMap) LoadBytes(r *Rows) {
	clear(c.m)
	c.loadBytes(r)
}

func (c *clearedMap) LoadStrings(r *Rows) {
	clear(c.m)
	c.plain.LoadStrings(r)
}

type mapOfSlab struct {
	plain
	text slab.Bytes
}

func (m *mapOfSlab) LoadBytes(r *Rows) {
	clear(m.m)
	m.text.Reset()
	for i, key := range r.KeyBytes {
		m.m[m.text.String(key)] = m.text.String(r.ValueBytes[i])
	}
}

func (m *mapOfSlab) LoadStrings(r *Rows) {
	clear(m.m)
	m.text.Reset()
	for i, key := range r.Keys {
		m.m[m.text.Clone(key)] = m.text.Clone(r.Values[i])
	}
}

type swissMap struct{ m *swiss.Map[string, string] }

func (s *swissMap) LoadBytes(r *Rows) {
	s.m.Clear()
	for i, key := range r.KeyBytes {
		s.m.Put(string(key), string(r.ValueBytes[i]))
	}
}

func (s *swissMap) LoadStrings(r *Rows) {
	s.m.Clear()
	for i, key := range r.Keys {
		s.m.Put(key, r.Values[i])
	}
}

func (s *swissMap) Get(keys []string) (sum int) {
	for _, key := range keys {
		value, _ := s.m.Get(key)
		sum += byteOf(value)
	}
	return sum
}

func (s *swissMap) All() (sum int) {
	s.m.All(func(key, value string) bool {
		sum += byteOf(key) + byteOf(value)
		return true
	})
	return sum
}
