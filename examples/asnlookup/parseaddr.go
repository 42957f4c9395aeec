package main

import (
	"bytes"
	"math"
	"math/bits"
)

// The functions here parse what netip.ParseAddr parses, and decimal numbers,
// from bytes and without allocating: netip wants a string, which would be one
// allocation for each address of a table.

// parseAddr parses an address of a table: 1.2.3.4, 2001:db8::1, or a decimal
// number, which is an IPv4 address if it fits in 32 bits. An IPv4 address is in
// the lo half of the result. An IPv4-mapped IPv6 address is an IPv4 address.
func parseAddr(text []byte) (addr addr6, is4, ok bool) {
	switch {
	case bytes.IndexByte(text, ':') >= 0:
		if addr, ok = parse6(text); ok && addr.is4() {
			return addr6{lo: addr.lo & math.MaxUint32}, true, true
		}
		return addr, false, ok
	case bytes.IndexByte(text, '.') >= 0:
		v4, ok := parse4(text)
		return addr6{lo: uint64(v4)}, true, ok
	default:
		addr, ok = parseNumber(text)
		return addr, addr.hi == 0 && addr.lo <= math.MaxUint32, ok
	}
}

// parse4 parses a dotted quad. Like netip it refuses leading zeros, which some
// programs read as octal.
func parse4(text []byte) (addr4, bool) {
	var addr, octet uint32
	dots, digits := 0, 0
	for _, c := range text {
		switch {
		case c == '.':
			if digits == 0 || dots == 3 {
				return 0, false
			}
			addr = addr<<8 | octet
			octet, digits = 0, 0
			dots++
		case '0' <= c && c <= '9':
			if digits > 0 && octet == 0 {
				return 0, false
			}
			octet = octet*10 + uint32(c-'0')
			digits++
			if octet > 255 {
				return 0, false
			}
		default:
			return 0, false
		}
	}
	return addr4(addr<<8 | octet), dots == 3 && digits > 0
}

// parse6 parses an IPv6 address without a zone.
func parse6(text []byte) (addr6, bool) {
	var groups [8]uint16
	n := 0         // groups parsed
	ellipsis := -1 // the group that :: stands before
	if len(text) >= 2 && text[0] == ':' && text[1] == ':' {
		ellipsis = 0
		text = text[2:]
	}
	for len(text) > 0 {
		if n == len(groups) {
			return addr6{}, false
		}
		group, digits := parseGroup(text)
		if digits < len(text) && text[digits] == '.' { // the last 32 bits as a dotted quad
			v4, ok := parse4(text)
			if !ok || n > 6 {
				return addr6{}, false
			}
			groups[n], groups[n+1] = uint16(v4>>16), uint16(v4)
			n += 2
			break
		}
		if digits == 0 || digits > 4 {
			return addr6{}, false
		}
		groups[n] = group
		n++
		if text = text[digits:]; len(text) == 0 {
			break
		}
		if text[0] != ':' || len(text) == 1 {
			return addr6{}, false
		}
		if text = text[1:]; text[0] == ':' {
			if ellipsis >= 0 {
				return addr6{}, false
			}
			ellipsis = n
			text = text[1:]
		}
	}
	if ellipsis >= 0 && n < len(groups) {
		tail := copy(groups[len(groups)-(n-ellipsis):], groups[ellipsis:n])
		clear(groups[ellipsis : len(groups)-tail])
		n = len(groups)
	} else if ellipsis >= 0 {
		return addr6{}, false // :: stands for one group at least
	}
	var addr addr6
	for i := range 4 {
		addr.hi = addr.hi<<16 | uint64(groups[i])
		addr.lo = addr.lo<<16 | uint64(groups[4+i])
	}
	return addr, n == len(groups)
}

// parseGroup parses the hexadecimal number that text begins with and returns
// how many digits it has; more than four do not fit.
func parseGroup(text []byte) (group uint16, digits int) {
	for _, c := range text {
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c && c <= 'f':
			c -= 'a' - 10
		case 'A' <= c && c <= 'F':
			c -= 'A' - 10
		default:
			return group, digits
		}
		group = group<<4 | uint16(c)
		digits++
	}
	return group, digits
}

// parseNumber parses a decimal number of up to 128 bits.
func parseNumber(text []byte) (addr6, bool) {
	var n addr6
	for _, c := range text {
		if c < '0' || c > '9' {
			return addr6{}, false
		}
		carry, lo := bits.Mul64(n.lo, 10)
		over, hi := bits.Mul64(n.hi, 10)
		hi, overCarry := bits.Add64(hi, carry, 0)
		lo, carry = bits.Add64(lo, uint64(c-'0'), 0)
		hi, overDigit := bits.Add64(hi, 0, carry)
		if over|overCarry|overDigit != 0 {
			return addr6{}, false
		}
		n = addr6{hi, lo}
	}
	return n, len(text) > 0
}

// parseASN parses the number of an autonomous system, 32 bits in decimal.
func parseASN(text []byte) (uint32, bool) {
	n, ok := parseNumber(text)
	return uint32(n.lo), ok && n.hi == 0 && n.lo <= math.MaxUint32
}
