package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// This file writes small databases, by the MaxMind DB format specification,
// version 2.0: a binary search tree with records of 24 bits, 16 zero bytes, the
// data section, a marker, and the metadata.

// mmdb returns a database for IPv6, built at the given Unix time. Each network
// has the record {"country_code": code}.
func mmdb(built uint64, networks map[string]string) []byte {
	tree := [][2]node{{}}
	var data []byte
	for network, code := range networks {
		at := node{data: len(data), kind: toData}
		data = append(data, encodeMap("country_code", code)...)
		prefix := netip.MustParsePrefix(network)
		bits := prefix.Bits()
		addr := prefix.Addr().As16()
		if prefix.Addr().Is4() { // IPv4 is in ::/96
			addr, bits = [16]byte{12: addr[12], addr[13], addr[14], addr[15]}, 96+bits
		}
		current := 0
		for i := range bits {
			side := addr[i/8] >> (7 - i%8) & 1
			switch next := tree[current][side]; {
			case i == bits-1:
				tree[current][side] = at
			case next.kind == toNode:
				current = next.data
			default:
				tree[current][side] = node{len(tree), toNode}
				current = len(tree)
				tree = append(tree, [2]node{})
			}
		}
	}

	var file []byte
	for _, pair := range tree {
		for _, n := range pair {
			record := len(tree) // no data
			switch n.kind {
			case toNode:
				record = n.data
			case toData:
				record = len(tree) + 16 + n.data
			}
			file = append(file, byte(record>>16), byte(record>>8), byte(record))
		}
	}
	file = append(file, make([]byte, 16)...)
	file = append(file, data...)
	file = append(file, "\xab\xcd\xefMaxMind.com"...)
	return append(file, encodeMap(
		"binary_format_major_version", uint16(2),
		"binary_format_minor_version", uint16(0),
		"build_epoch", built,
		"database_type", "Test-Country",
		"description", raw(encodeMap("en", "written by a test")),
		"ip_version", uint16(6),
		"languages", raw{0, 4}, // an empty array: size 0, extended type 11
		"node_count", uint32(len(tree)),
		"record_size", uint16(24),
	)...)
}

// node is the target of one side of a tree node: nothing, a node, or an
// offset in the data section.
type node struct {
	data int
	kind int
}

const (
	toNode = 1 + iota
	toData
)

// raw is a value that is encoded already.
type raw []byte

// encodeMap encodes keys and values that take turns. Sizes are below 29, so
// each fits in the control byte.
func encodeMap(keysAndValues ...any) []byte {
	out := []byte{7<<5 | byte(len(keysAndValues)/2)}
	for _, v := range keysAndValues {
		switch v := v.(type) {
		case string:
			out = append(append(out, 2<<5|byte(len(v))), v...)
		case uint16:
			out = binary.BigEndian.AppendUint16(append(out, 5<<5|2), v)
		case uint32:
			out = binary.BigEndian.AppendUint32(append(out, 6<<5|4), v)
		case uint64:
			out = binary.BigEndian.AppendUint64(append(out, 8, 9-7), v) // an extended type: size, then type - 7
		case raw:
			out = append(out, v...)
		default:
			panic(fmt.Sprintf("cannot encode %T", v))
		}
	}
	return out
}

// generation returns a database in which every answer names the generation, as
// the country code and as the time it was built.
func generation(n int) []byte {
	code := fmt.Sprintf("G%d", n)
	return mmdb(uint64(n), map[string]string{"192.0.2.0/24": code, "198.51.100.0/25": code, "2001:db8::/32": code})
}

// replaceFile moves a new file with that content over path.
func replaceFile(t *testing.T, path string, content []byte) {
	t.Helper()
	if err := os.WriteFile(path+".new", content, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
}

func tempDB(t *testing.T, content []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "test.mmdb")
	replaceFile(t, path, content)
	return path
}

// brokenDBs are variants of a good database that must not go live.
func brokenDBs() map[string][]byte {
	good := generation(1)
	broken := map[string][]byte{
		"empty":             {},
		"cut to a half":     good[:len(good)/2],
		"cut by one byte":   good[:len(good)-1],
		"without the start": good[len(good)/2:],
		"not a database":    []byte("<html>404</html>"),
		"without records":   mmdb(1, nil),
	}
	tree := slices.Clone(good)
	tree[0], tree[1], tree[2] = 0xff, 0xff, 0xff // points behind the data
	broken["with a damaged tree"] = tree
	data := slices.Clone(good)
	i := bytes.Index(data, []byte("country_code"))
	data[i-1] = 2<<5 | 28 // the key is longer than the record
	broken["with a damaged record"] = data
	return broken
}
