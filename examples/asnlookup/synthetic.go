package main

import (
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"strconv"
)

// synthetic is a source of made-up tables, which are the same in every run:
// CSV text of the shape and, by default, the size of the real files. The
// ranges of all its tables are the same; the names tell the generation, so that
// every answer shows which table it comes from.
type synthetic struct {
	ranges4, ranges6, systems int

	generation int    // of the last table, counted from 1
	text       []byte // of the row that is being read; kept for its memory
}

// generations is added to the generation in a name, so that names do not get
// longer, and tables larger, from one to the next.
const generations = 1_000_000

// newSynthetic returns a source of tables as large as those of the npm package
// @ip-location-db/asn in 2026.
func newSynthetic() *synthetic {
	return &synthetic{ranges4: 412_000, ranges6: 103_000, systems: 84_000}
}

func (s *synthetic) version() version { return nil }

func (s *synthetic) fill(p *parser, t *table) error {
	s.generation++
	rows := syntheticRows{synthetic: s, text: s.text[:0]}
	rows.random.Seed(1, 2)
	err := p.read(t, fmt.Sprintf("synthetic table %d", s.generation), &rows)
	s.text = rows.text
	return err
}

// syntheticRows is the text of one synthetic table.
type syntheticRows struct {
	*synthetic
	random rand.PCG
	row    int
	text   []byte // the row
	unread []byte // the part of text that Read has not returned
}

// Read generates the text row by row.
func (r *syntheticRows) Read(buf []byte) (int, error) {
	n := 0
	for n < len(buf) {
		if len(r.unread) == 0 {
			if r.row == r.ranges4+r.ranges6 {
				break
			}
			r.text = r.next(r.text[:0])
			r.unread = r.text
			r.row++
		}
		copied := copy(buf[n:], r.unread)
		r.unread = r.unread[copied:]
		n += copied
	}
	if n == 0 && len(buf) > 0 {
		return 0, io.EOF
	}
	return n, nil
}

// next appends the next row. Each range lies in a stretch of its own of the
// address space, and fills it by half to three quarters.
func (r *syntheticRows) next(text []byte) []byte {
	if r.row < r.ranges4 {
		stretch := math.MaxUint32 / uint32(r.ranges4)
		first := addr4(stretch * uint32(r.row))
		last := first + addr4(r.within(uint64(stretch)))
		text = append(first.netip().AppendTo(text), ',')
		text = append(last.netip().AppendTo(text), ',')
	} else {
		const base, space = 0x2001 << 48, 0x0c00 << 48 // what is in use, 2001:: to 2c00::
		stretch := uint64(space) / uint64(r.ranges6)
		first := addr6{base + stretch*uint64(r.row-r.ranges4), 0}
		last := addr6{first.hi + r.within(stretch), math.MaxUint64}
		text = append(first.netip().AppendTo(text), ',')
		text = append(last.netip().AppendTo(text), ',')
	}
	system := r.random.Uint64() % uint64(r.systems)
	text = append(strconv.AppendUint(text, 1+3*system, 10), ',')
	return r.name(text, system)
}

// within returns how far from the beginning of its stretch a range ends.
func (r *syntheticRows) within(stretch uint64) uint64 {
	return stretch/2 + r.random.Uint64()%(stretch/4+1)
}

// name appends a name as it stands in a CSV file. One in eight systems has the
// name of the one before it, half of the names are quoted, and some of these
// have quotes in them.
func (r *syntheticRows) name(text []byte, system uint64) []byte {
	number := system
	if number%8 == 7 {
		number--
	}
	open, between, end := "Synthetic ", " generation ", "\n"
	switch number % 4 {
	case 0:
		open, between, end = `"Synthetic `, `, generation `, "\"\n"
	case 2:
		open, between, end = `"""Synthetic"" `, `, generation `, "\"\n"
	}
	text = append(text, open...)
	text = strconv.AppendUint(text, number, 10)
	text = append(text, between...)
	text = strconv.AppendInt(text, generations+int64(r.generation), 10)
	return append(text, end...)
}
