package main

import (
	"bytes"
	"net/netip"
	"sort"
	"unsafe"

	"github.com/poolswap/poolswap"
)

// table maps IP ranges to autonomous systems. Its content is in three slabs
// without a pointer in them: two of fixed records, and one of bytes that the
// records refer to by offset. reset keeps the slabs, so the next table of this
// size is filled without an allocation, and the garbage collector has nothing
// to scan.
//
// The Reloader has a table filled. Once published it is read-only.
type table struct {
	poolswap.Ref

	spans   []span   // ascending, without overlaps
	systems []system // each number and name once
	names   []byte   // the names, one after the other

	overlaps int // spans that were cut short because the next one begins inside them
}

// address is an IP address in 16 bytes, IPv4 addresses in their IPv4-mapped
// form, so one order and one slab do for both families.
type address [16]byte

// span is a range of addresses. It includes both ends.
type span struct {
	first, last address
	system      uint32 // index into table.systems
}

// system is an autonomous system; its name is table.names[from:to].
type system struct{ asn, from, to uint32 }

// match is the result of a lookup.
type match struct {
	first, last netip.Addr
	asn         uint32
	name        []byte // part of the table: valid while the caller holds the table
}

func newTable() *table { return new(table) }

// reset empties the table and keeps its memory.
func (t *table) reset() bool {
	t.spans, t.systems, t.names, t.overlaps = t.spans[:0], t.systems[:0], t.names[:0], 0
	return true
}

// bytes returns the size of the table's content.
func (t *table) bytes() int {
	return len(t.spans)*int(unsafe.Sizeof(span{})) + len(t.systems)*int(unsafe.Sizeof(system{})) + len(t.names)
}

// name returns the name of systems[i] as a part of the table.
func (t *table) name(i uint32) []byte { return t.names[t.systems[i].from:t.systems[i].to] }

// lookup finds the span that contains ip. It does not allocate.
func (t *table) lookup(ip netip.Addr) (match, bool) {
	addr := address(ip.As16())
	next := sort.Search(len(t.spans), func(i int) bool { return addr.less(t.spans[i].first) })
	if next == 0 || t.spans[next-1].last.less(addr) {
		return match{}, false
	}
	s := &t.spans[next-1]
	return match{s.first.netip(), s.last.netip(), t.systems[s.system].asn, t.name(s.system)}, true
}

func (a address) less(b address) bool { return bytes.Compare(a[:], b[:]) < 0 }

func (a address) netip() netip.Addr { return netip.AddrFrom16(a).Unmap() }
