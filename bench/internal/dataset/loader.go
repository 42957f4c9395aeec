package dataset

import (
	"bytes"
	"hash/maphash"
)

// Loader is a table that can be loaded from the text of a package index, again
// and again. Lookup returns the version, section and description of a package.
type Loader interface {
	Load(text []byte)
	Lookup(name string) (version, section, description string, ok bool)
	Len() int
}

// fields are the values of a record that tables keep.
type fields struct{ name, version, section, description []byte }

// eachRecord calls f for each record of a text; the fields are parts of the
// text.
func eachRecord(text []byte, f func(fields)) {
	var r fields
	for len(text) > 0 {
		line, rest, _ := bytes.Cut(text, []byte{'\n'})
		text = rest
		if len(line) == 0 {
			if r.name != nil {
				f(r)
			}
			r = fields{}
			continue
		}
		key, value, ok := bytes.Cut(line, []byte(": "))
		if !ok || line[0] == ' ' {
			continue
		}
		switch string(key) {
		case "Package":
			r.name = value
		case "Version":
			r.version = value
		case "Section":
			r.section = value
		case "Description":
			r.description = value
		}
	}
}

// Map is the table that one writes first: a map from a string to a struct of
// strings.
type Map struct{ packages map[string]mapRecord }

type mapRecord struct{ version, section, description string }

// Load replaces the content of the table. The memory of the map is used again,
// that of the strings cannot be.
func (m *Map) Load(text []byte) {
	if m.packages == nil {
		m.packages = make(map[string]mapRecord, bytes.Count(text, []byte("\n\n")))
	}
	clear(m.packages)
	eachRecord(text, func(r fields) {
		m.packages[string(r.name)] = mapRecord{string(r.version), string(r.section), string(r.description)}
	})
}

// Lookup returns the record of a package.
func (m *Map) Lookup(name string) (version, section, description string, ok bool) {
	r, ok := m.packages[name]
	return r.version, r.section, r.description, ok
}

// Len returns the number of packages.
func (m *Map) Len() int { return len(m.packages) }

// Slab is a table without pointers: three slices, which can be used again whole.
type Slab struct {
	bytes   []byte
	records []slabRecord
	index   []uint32 // hash table with open addressing: number of a record plus 1, or 0
	len     int
}

// slabRecord says where in the bytes a record begins, and how long its fields
// are, which follow each other.
type slabRecord struct {
	start                               uint32
	name, version, section, description uint16
}

var seed = maphash.MakeSeed()

// Load replaces the content of the table and uses its memory again.
func (s *Slab) Load(text []byte) {
	records := bytes.Count(text, []byte("\n\n"))
	size := 4
	for size < 2*records {
		size *= 2
	}
	if cap(s.bytes) == 0 {
		s.bytes = make([]byte, 0, len(text)/8)
		s.records = make([]slabRecord, 0, records)
	}
	s.bytes, s.records, s.len = s.bytes[:0], s.records[:0], 0
	if cap(s.index) < size {
		s.index = make([]uint32, size)
	}
	s.index = s.index[:size]
	clear(s.index)
	eachRecord(text, func(r fields) {
		record := slabRecord{uint32(len(s.bytes)), uint16(len(r.name)), uint16(len(r.version)), uint16(len(r.section)), uint16(len(r.description))}
		s.bytes = append(s.bytes, r.name...)
		s.bytes = append(s.bytes, r.version...)
		s.bytes = append(s.bytes, r.section...)
		s.bytes = append(s.bytes, r.description...)
		s.records = append(s.records, record)
		at, taken := s.find(r.name)
		if !taken {
			s.len++
		}
		s.index[at] = uint32(len(s.records)) // the last of several wins, as in a map
	})
}

// find returns where in the index a name is, or where it belongs.
func (s *Slab) find(name []byte) (at int, found bool) {
	mask := len(s.index) - 1
	for at = int(maphash.Bytes(seed, name)) & mask; s.index[at] != 0; at = (at + 1) & mask {
		r := &s.records[s.index[at]-1]
		if string(s.bytes[r.start:r.start+uint32(r.name)]) == string(name) {
			return at, true
		}
	}
	return at, false
}

// Lookup returns the record of a package.
func (s *Slab) Lookup(name string) (version, section, description string, ok bool) {
	if len(s.index) == 0 {
		return "", "", "", false
	}
	at, ok := s.find([]byte(name))
	if !ok {
		return "", "", "", false
	}
	r := &s.records[s.index[at]-1]
	next := r.start + uint32(r.name)
	field := func(n uint16) string {
		next += uint32(n)
		return string(s.bytes[next-uint32(n) : next])
	}
	return field(r.version), field(r.section), field(r.description), true
}

// Len returns the number of packages.
func (s *Slab) Len() int { return s.len }
