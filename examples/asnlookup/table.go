package main

import (
	"net/netip"
	"unsafe"

	"github.com/poolswap/poolswap"
)

// table maps IP ranges to autonomous systems. All of it is in four slabs
// without a pointer in them: slices of fixed records, and one of bytes that the
// records point into by offset. That is what makes it worth recycling: reset
// keeps the slabs, and a table of the same size fills them again without
// allocating, whatever the names are. It is also nothing for the garbage
// collector to scan.
//
// Readers get it from the container and do not write it. Only the writer that
// got it from the pool fills it, before the Update.
type table struct {
	poolswap.Ref

	v4       []span[addr4] // ascending, none overlaps the next
	v6       []span[addr6] // likewise
	owners   []owner       // each system once
	names    []byte        // each name once, one after the other
	overlaps int           // ranges that were cut short because the next one began inside them
}

// span is a range of addresses, first and last included.
type span[A address[A]] struct {
	first, last A
	owner       uint32 // in table.owners
}

// owner is an autonomous system and its name.
type owner struct {
	asn    uint32
	offset uint32 // of the name in table.names
	size   uint32 // of the name in bytes
}

// match is what a lookup found.
type match struct {
	first, last netip.Addr // the range
	asn         uint32
	name        []byte // a part of the table: valid until the table is released
}

func newTable() *table { return new(table) }

// reset empties the table and keeps its memory.
func (t *table) reset() bool {
	t.v4 = t.v4[:0]
	t.v6 = t.v6[:0]
	t.owners = t.owners[:0]
	t.names = t.names[:0]
	t.overlaps = 0
	return true
}

// ranges returns how many ranges the table has.
func (t *table) ranges() int { return len(t.v4) + len(t.v6) }

// size returns how many bytes the content of the table takes.
func (t *table) size() int {
	return len(t.v4)*int(unsafe.Sizeof(span[addr4]{})) +
		len(t.v6)*int(unsafe.Sizeof(span[addr6]{})) +
		len(t.owners)*int(unsafe.Sizeof(owner{})) +
		len(t.names)
}

// lookup finds the range that ip is in. An IPv4-mapped IPv6 address is looked
// up as the IPv4 address that it is. It does not allocate.
func (t *table) lookup(ip netip.Addr) (match, bool) {
	ip = ip.Unmap()
	if ip.Is4() {
		return find(t, t.v4, addr4Of(ip))
	}
	return find(t, t.v6, addr6Of(ip))
}

// find looks for the last span that begins at addr or before it: since spans do
// not overlap, it is the only one that addr can be in.
func find[A address[A]](t *table, spans []span[A], addr A) (match, bool) {
	from, to := 0, len(spans) // spans before from begin at addr or before it, spans from to on after it
	for from < to {
		middle := int(uint(from+to) / 2)
		if addr.less(spans[middle].first) {
			to = middle
		} else {
			from = middle + 1
		}
	}
	if from == 0 || spans[from-1].last.less(addr) {
		return match{}, false
	}
	s := &spans[from-1]
	return match{
		first: s.first.netip(),
		last:  s.last.netip(),
		asn:   t.owners[s.owner].asn,
		name:  t.name(s.owner),
	}, true
}

// name returns the name of an owner. It is a part of the table.
func (t *table) name(owner uint32) []byte {
	o := &t.owners[owner]
	return t.names[o.offset:][:o.size]
}
