package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"net/netip"
	"strconv"
	"unicode/utf8"
	"unsafe"
)

// row is one line of a table file: first address, last address, number of the
// autonomous system, name.
type row struct {
	first, last netip.Addr
	asn         uint32
	name        []byte // part of the line
}

var (
	errFields = errors.New("the row has fewer than four fields")
	errName   = errors.New("the name is not valid CSV in UTF-8 (or the row has more than four fields)")
)

// parseRow parses a line in place, without allocating: it unquotes the name
// over the line itself.
func parseRow(line []byte) (row, error) {
	fields := [4][]byte{3: line}
	for i := range 3 {
		var found bool
		if fields[i], fields[3], found = bytes.Cut(fields[3], []byte{','}); !found {
			return row{}, errFields
		}
	}
	first, firstErr := parseAddr(fields[0])
	last, lastErr := parseAddr(fields[1])
	asn, asnErr := strconv.ParseUint(string(fields[2]), 10, 32)
	name, nameErr := unquote(fields[3])
	if err := cmp.Or(firstErr, lastErr, asnErr, nameErr); err != nil {
		return row{}, err
	}
	if first.BitLen() != last.BitLen() || last.Less(first) {
		return row{}, fmt.Errorf("%v - %v is not a range", first, last)
	}
	return row{first, last, uint32(asn), name}, nil
}

// parseAddr parses an IP address. netip.ParseAddr wants a string, and two
// allocations a row is what this program avoids, so the string shares the
// memory of the line. That is sound because nothing keeps it: an address has
// copied what it needs, and the error, which would refer to it, is dropped.
func parseAddr(text []byte) (netip.Addr, error) {
	addr, err := netip.ParseAddr(unsafe.String(unsafe.SliceData(text), len(text)))
	if err != nil || addr.Zone() != "" {
		return netip.Addr{}, fmt.Errorf("%q is not an IP address without a zone", text[:min(len(text), 60)])
	}
	return addr.Unmap(), nil
}

// unquote returns the content of the last field of a CSV line. It moves the
// content of a quoted field together where a doubled quote stands for one.
func unquote(field []byte) ([]byte, error) {
	switch {
	case !utf8.Valid(field):
		return nil, errName
	case len(field) == 0 || field[0] != '"':
		if bytes.ContainsAny(field, `",`) {
			return nil, errName
		}
		return field, nil
	case len(field) == 1 || field[len(field)-1] != '"':
		return nil, errName
	}
	quoted := field[1 : len(field)-1]
	content := quoted[:0]
	for i := 0; i < len(quoted); i++ {
		if quoted[i] == '"' {
			if i++; i == len(quoted) || quoted[i] != '"' {
				return nil, errName
			}
		}
		content = append(content, quoted[i])
	}
	return content, nil
}
