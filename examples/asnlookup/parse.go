package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"unicode/utf8"
)

// maxLine is how long a line may be, in bytes, with its newline.
const maxLine = 64 << 10

// parser fills tables from CSV text, one after another, and keeps what it needs
// for that: it allocates nothing for a row. It is for one writer at a time.
//
// Within a family, ranges must ascend, over all files of a table; a row that is
// out of order means that the file is not what it should be, so it is refused
// rather than sorted. One flaw is tolerated where it is rare, since published
// tables have it: a range may begin inside the range before it and end after
// it. The earlier one is then cut short.
type parser struct {
	oneIn int // tolerate one such overlap in this many ranges; 0: none

	in     *bufio.Reader
	seed   maphash.Seed
	owners index  // by number and name
	names  index  // by name: any owner that has it
	path   string // of the file that is being read
	line   int    // that is being read
	flaw   error  // the first overlap of the table
}

// lineError says which line of which file is wrong. The line is 0 if it is the
// file as a whole.
type lineError struct {
	path string
	line int
	err  error
}

func (e *lineError) Error() string {
	if e.line == 0 {
		return fmt.Sprintf("%s: %v", e.path, e.err)
	}
	return fmt.Sprintf("%s:%d: %v", e.path, e.line, e.err)
}

func (e *lineError) Unwrap() error { return e.err }

var (
	errEmpty     = errors.New("the file is empty")
	errTruncated = errors.New("the last line does not end in a newline: the file is truncated")
	errLongLine  = fmt.Errorf("the line is longer than %d bytes", maxLine)
)

func newParser(oneIn int) *parser {
	return &parser{
		oneIn: oneIn,
		in:    bufio.NewReaderSize(nil, maxLine),
		seed:  maphash.MakeSeed(),
	}
}

// begin makes the parser ready for the next table.
func (p *parser) begin() {
	p.owners.reset()
	p.names.reset()
	p.flaw = nil
}

// end checks the table as a whole.
func (p *parser) end(t *table) error {
	if t.overlaps > 0 && t.overlaps > t.ranges()/max(p.oneIn, 1) {
		return fmt.Errorf("%w (%d such overlaps in %d ranges; -overlaps %d tolerates one in that many)",
			p.flaw, t.overlaps, t.ranges(), p.oneIn)
	}
	return nil
}

// read adds the rows of one file to the table. The errors of read are
// *lineError; the table is then good for nothing but the pool.
func (p *parser) read(t *table, path string, file io.Reader) error {
	p.path = path
	p.in.Reset(file)
	defer p.in.Reset(nil)
	for p.line = 1; ; p.line++ {
		line, err := p.in.ReadSlice('\n')
		switch {
		case err == io.EOF && len(line) > 0:
			return p.wrong(errTruncated)
		case err == io.EOF && p.line == 1:
			return &lineError{path, 0, errEmpty}
		case err == io.EOF:
			return nil
		case errors.Is(err, bufio.ErrBufferFull):
			return p.wrong(errLongLine)
		case err != nil:
			return p.wrong(err)
		}
		if err := p.row(t, bytes.TrimSuffix(line[:len(line)-1], carriageReturn)); err != nil {
			return p.wrong(err)
		}
	}
}

var carriageReturn = []byte{'\r'}

func (p *parser) wrong(err error) error { return &lineError{p.path, p.line, err} }

// row adds one row to the table.
func (p *parser) row(t *table, line []byte) error {
	var fields [columns][]byte
	n, err := split(line, &fields)
	switch {
	case err != nil:
		return err
	case n != columns:
		return fmt.Errorf("the row has %d fields, not %d", n, columns)
	}
	first, firstIs4, ok := parseAddr(fields[0])
	if !ok {
		return fmt.Errorf("the first address, %q, is not an IP address", clip(fields[0]))
	}
	last, lastIs4, ok := parseAddr(fields[1])
	if !ok {
		return fmt.Errorf("the last address, %q, is not an IP address", clip(fields[1]))
	}
	if firstIs4 != lastIs4 {
		return fmt.Errorf("the range %s - %s mixes IPv4 and IPv6", clip(fields[0]), clip(fields[1]))
	}
	asn, ok := parseASN(fields[2])
	if !ok {
		return fmt.Errorf("the number of the autonomous system, %q, is not a decimal number of 32 bits", clip(fields[2]))
	}
	if !utf8.Valid(fields[3]) {
		return fmt.Errorf("the name, %q, is not UTF-8", clip(fields[3]))
	}
	owner := p.owner(t, asn, fields[3])
	if firstIs4 {
		t.v4, err = add(p, t, t.v4, span[addr4]{addr4(first.lo), addr4(last.lo), owner})
	} else {
		t.v6, err = add(p, t, t.v6, span[addr6]{first, last, owner})
	}
	return err
}

// add appends a range, if it may follow the last one.
func add[A address[A]](p *parser, t *table, spans []span[A], s span[A]) ([]span[A], error) {
	if s.last.less(s.first) {
		return spans, fmt.Errorf("the range %s - %s ends before it begins", s.first.netip(), s.last.netip())
	}
	if len(spans) == 0 || spans[len(spans)-1].last.less(s.first) {
		return append(spans, s), nil
	}
	before := &spans[len(spans)-1]
	if s.first.less(before.first) {
		return spans, fmt.Errorf("the range %s - %s is out of order: it follows %s - %s",
			s.first.netip(), s.last.netip(), before.first.netip(), before.last.netip())
	}
	tolerable := p.oneIn > 0 && before.first.less(s.first) && before.last.less(s.last)
	if !tolerable || p.flaw == nil {
		err := fmt.Errorf("the range %s - %s overlaps the one before it, %s - %s",
			s.first.netip(), s.last.netip(), before.first.netip(), before.last.netip())
		if !tolerable {
			return spans, err
		}
		p.flaw = p.wrong(err)
	}
	before.last = s.first.prev()
	t.overlaps++
	return append(spans, s), nil
}

// owner returns the position of the autonomous system in the table, which gets
// it, and its name, if they are new.
func (p *parser) owner(t *table, asn uint32, name []byte) uint32 {
	nameHash := maphash.Bytes(p.seed, name)
	hash := uint32(nameHash>>32) ^ asn*0x9e3779b1 // spread numbers that follow each other
	known, free := p.owners.find(hash, func(i uint32) bool {
		return t.owners[i].asn == asn && bytes.Equal(t.name(i), name)
	})
	if free == nil {
		return known
	}
	added := uint32(len(t.owners))
	p.owners.put(free, added)
	namesake, free := p.names.find(uint32(nameHash), func(i uint32) bool { return bytes.Equal(t.name(i), name) })
	if free == nil {
		t.owners = append(t.owners, owner{asn, t.owners[namesake].offset, t.owners[namesake].size})
		return added
	}
	p.names.put(free, added)
	t.owners = append(t.owners, owner{asn, uint32(len(t.names)), uint32(len(name))})
	t.names = append(t.names, name...)
	return added
}

// clip shortens what an error quotes from a file.
func clip(text []byte) []byte {
	const most = 60
	return text[:min(len(text), most)]
}
