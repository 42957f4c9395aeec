package suites

import (
	"bytes"
	"fmt"
	"hash/maphash"
	"math/rand/v2"
	"strings"
)

// packages is a table that can be loaded from the text of a package index, again
// and again, into the memory that it has.
type packages interface {
	load(text []byte)
	version(name string) string // of the last record of that name
}

// packageIndex makes records with the fields of Debian's package index and values
// of about the same lengths.
func packageIndex(records int) []byte {
	random := rand.New(rand.NewPCG(1, 2))
	words := func(n, least, most int) string {
		all := make([]string, n)
		for i := range all {
			letters := make([]byte, least+random.IntN(most-least+1))
			for i := range letters {
				letters[i] = byte('a' + random.IntN(26))
			}
			all[i] = string(letters)
		}
		return strings.Join(all, " ")
	}
	var b bytes.Buffer
	for i := range records {
		_, _ = fmt.Fprintf(&b, "Package: %s-%d\nVersion: %d.%d.%d-%d\nInstalled-Size: %d\nMaintainer: %s <%s@example.org>\nArchitecture: amd64\n",
			words(1, 4, 16), i, random.IntN(9), random.IntN(20), random.IntN(20), random.IntN(9), random.IntN(90000), words(2, 4, 12), words(1, 6, 20))
		_, _ = fmt.Fprintf(&b, "Depends: %s\nDescription: %s\nSection: %s\nFilename: pool/main/%s/%s.deb\nSize: %d\nSHA256: %s\n\n",
			words(3, 5, 20), words(4, 3, 9), words(1, 4, 8), words(1, 4, 16), words(1, 10, 30), random.IntN(9e6), words(1, 64, 64))
	}
	return b.Bytes()
}

// The values of a record that tables keep.
const (
	name = iota
	version
	section
	description
	fields
)

// eachRecord calls f for each record of a text; the values are parts of the text.
func eachRecord(text []byte, f func(values [fields][]byte)) {
	var values [fields][]byte
	for len(text) > 0 {
		line, rest, _ := bytes.Cut(text, []byte{'\n'})
		text = rest
		if len(line) == 0 {
			f(values)
			values = [fields][]byte{}
			continue
		}
		key, value, _ := bytes.Cut(line, []byte(": "))
		switch string(key) {
		case "Package":
			values[name] = value
		case "Version":
			values[version] = value
		case "Section":
			values[section] = value
		case "Description":
			values[description] = value
		}
	}
}

// packageMap is the table that one writes first: a map from a string to a struct
// of strings. The memory of the map is used again, that of the strings cannot be.
type packageMap map[string]struct{ version, section, description string }

func (m packageMap) load(text []byte) {
	clear(m)
	eachRecord(text, func(values [fields][]byte) {
		m[string(values[name])] = struct{ version, section, description string }{string(values[version]), string(values[section]), string(values[description])}
	})
}

func (m packageMap) version(name string) string { return m[name].version }

// packageSlab is a table without pointers: three slices, which can be used again
// whole.
type packageSlab struct {
	bytes   []byte
	records []slabRecord
	index   []uint32 // hash table with open addressing: number of a record plus 1, or 0
}

// slabRecord says where in the bytes a record begins, and how long its values are,
// which follow each other.
type slabRecord struct {
	start   uint32
	lengths [fields]uint16
}

var seed = maphash.MakeSeed()

func (s *packageSlab) load(text []byte) {
	size := 4
	for size < 2*bytes.Count(text, []byte("\n\n")) {
		size *= 2
	}
	s.bytes, s.records = s.bytes[:0], s.records[:0]
	if len(s.index) != size {
		s.bytes, s.records, s.index = make([]byte, 0, len(text)/8), make([]slabRecord, 0, size/2), make([]uint32, size)
	}
	clear(s.index)
	eachRecord(text, func(values [fields][]byte) {
		r := slabRecord{start: uint32(len(s.bytes))}
		for i, value := range values {
			r.lengths[i] = uint16(len(value))
			s.bytes = append(s.bytes, value...)
		}
		s.records = append(s.records, r)
		s.index[s.find(values[name])] = uint32(len(s.records)) // the last of several wins, as in a map
	})
}

// find returns where in the index a name is, or where it belongs.
func (s *packageSlab) find(wanted []byte) int {
	mask := len(s.index) - 1
	at := int(maphash.Bytes(seed, wanted)) & mask
	for ; s.index[at] != 0; at = (at + 1) & mask {
		r := &s.records[s.index[at]-1]
		if string(s.bytes[r.start:][:r.lengths[name]]) == string(wanted) {
			break
		}
	}
	return at
}

func (s *packageSlab) version(wanted string) string {
	at := s.index[s.find([]byte(wanted))]
	if at == 0 {
		return ""
	}
	r := &s.records[at-1]
	return string(s.bytes[r.start+uint32(r.lengths[name]):][:r.lengths[version]])
}
