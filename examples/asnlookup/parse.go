package main

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"hash/maphash"
	"io"

	"github.com/poolswap/poolswap/reload"
)

const (
	maxBytes = 1 << 30  // in the files of one table: keeps offsets within 32 bits
	maxLine  = 64 << 10 // in a line, with its newline

	// overlapOneIn is how rare overlaps must be: one in this many ranges.
	overlapOneIn = 100_000
)

// parser fills tables from CSV files, one table after another. It keeps its
// own memory too, so a load allocates nothing per row. One goroutine at a time
// may use it.
//
// Ranges must ascend over all files of a table, IPv4 before IPv6: rows out of
// order mean a broken file, so the parser does not sort them. It tolerates one
// flaw where it is rare, because published tables have it: a range that begins
// inside the one before it cuts that one short. The tables give in a row of its
// own what the earlier one has behind a range that ends inside it, too.
type parser struct {
	overlapOneIn int

	in      *bufio.Reader
	seed    maphash.Seed
	systems map[systemKey]uint32 // index into table.systems
	path    string               // of the file that is being read
	line    int                  // number of the line that is being read
	overlap error                // the first one
}

// systemKey finds a system that the table already has. Two names may have one
// hash, so what it finds has to be compared.
type systemKey struct {
	nameHash uint64
	asn      uint32
}

var (
	errEmpty     = errors.New("the file is empty")
	errTruncated = errors.New("the last line does not end in a newline: the file is truncated")
	errLongLine  = fmt.Errorf("the line is longer than %d bytes", maxLine)
)

func newParser() *parser {
	return &parser{
		overlapOneIn: overlapOneIn,
		in:           bufio.NewReaderSize(nil, maxLine),
		seed:         maphash.MakeSeed(),
		systems:      make(map[systemKey]uint32),
	}
}

// read fills an empty table from its files. After an error the content of the
// table is useless.
func (p *parser) read(t *table, files []*reload.Content) error {
	clear(p.systems)
	p.overlap = nil
	for _, file := range files {
		p.path = file.Source
		p.in.Reset(file.Body)
		if err := p.readLines(t); err != nil {
			return err
		}
	}
	if t.overlaps > 0 && t.overlaps > len(t.spans)/p.overlapOneIn {
		return fmt.Errorf("%w (%s in %d ranges; one in %d is tolerated)",
			p.overlap, count(t.overlaps, "overlap"), len(t.spans), p.overlapOneIn)
	}
	return nil
}

// readLines adds the rows of one file to the table.
func (p *parser) readLines(t *table) error {
	for p.line = 1; ; p.line++ {
		line, err := p.in.ReadSlice('\n')
		switch {
		case errors.Is(err, io.EOF) && len(line) == 0 && p.line > 1:
			return nil
		case errors.Is(err, io.EOF) && len(line) == 0:
			err = errEmpty
		case errors.Is(err, io.EOF):
			err = errTruncated
		case errors.Is(err, bufio.ErrBufferFull):
			err = errLongLine
		case err == nil:
			err = p.add(t, bytes.TrimRight(line, "\r\n"))
		}
		if err != nil {
			return p.errorHere(err)
		}
	}
}

func (p *parser) errorHere(err error) error { return fmt.Errorf("%s:%d: %w", p.path, p.line, err) }

// add appends the row in line to the table.
func (p *parser) add(t *table, line []byte) error {
	r, err := parseRow(line)
	if err != nil {
		return err
	}
	next := span{r.first.As16(), r.last.As16(), p.system(t, r)}
	if n := len(t.spans); n > 0 && !t.spans[n-1].last.less(next.first) {
		before := &t.spans[n-1]
		err := fmt.Errorf("the range %v - %v does not follow the one before it, %v - %v (ranges ascend and do not overlap, IPv4 before IPv6)",
			r.first, r.last, before.first.netip(), before.last.netip())
		if !before.first.less(next.first) {
			return err
		}
		p.overlap = cmp.Or(p.overlap, p.errorHere(err))
		before.last = r.first.Prev().As16()
		t.overlaps++
	}
	t.spans = append(t.spans, next)
	return nil
}

// system returns the index of a row's autonomous system in the table, to which
// it adds the system if it is new.
func (p *parser) system(t *table, r row) uint32 {
	key := systemKey{maphash.Bytes(p.seed, r.name), r.asn}
	if i, ok := p.systems[key]; ok && bytes.Equal(t.name(i), r.name) {
		return i
	}
	i, from := uint32(len(t.systems)), uint32(len(t.names))
	t.names = append(t.names, r.name...)
	t.systems = append(t.systems, system{r.asn, from, uint32(len(t.names))})
	p.systems[key] = i
	return i
}
