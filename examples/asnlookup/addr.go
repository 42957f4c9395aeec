package main

import (
	"encoding/binary"
	"net/netip"
)

// address is an IP address of one family, ordered as a number.
type address[A any] interface {
	less(A) bool
	prev() A // the address before; of 0 it is the highest
	netip() netip.Addr
}

// addr4 is an IPv4 address.
type addr4 uint32

func (a addr4) less(b addr4) bool { return a < b }
func (a addr4) prev() addr4       { return a - 1 }

func (a addr4) netip() netip.Addr {
	var b [4]byte
	binary.BigEndian.PutUint32(b[:], uint32(a))
	return netip.AddrFrom4(b)
}

// addr6 is an IPv6 address.
type addr6 struct{ hi, lo uint64 }

func (a addr6) less(b addr6) bool { return a.hi < b.hi || a.hi == b.hi && a.lo < b.lo }

func (a addr6) prev() addr6 {
	if a.lo == 0 {
		a.hi--
	}
	a.lo--
	return a
}

func (a addr6) netip() netip.Addr {
	var b [16]byte
	binary.BigEndian.PutUint64(b[:8], a.hi)
	binary.BigEndian.PutUint64(b[8:], a.lo)
	return netip.AddrFrom16(b)
}

// is4 reports whether a is an IPv4 address written as an IPv6 one,
// ::ffff:1.2.3.4.
func (a addr6) is4() bool { return a.hi == 0 && a.lo>>32 == 0xffff }

// addr4Of returns the address that ip, an IPv4 address, is.
func addr4Of(ip netip.Addr) addr4 {
	b := ip.As4()
	return addr4(binary.BigEndian.Uint32(b[:]))
}

// addr6Of returns the address that ip, an IPv6 address, is.
func addr6Of(ip netip.Addr) addr6 {
	b := ip.As16()
	return addr6{binary.BigEndian.Uint64(b[:8]), binary.BigEndian.Uint64(b[8:])}
}
