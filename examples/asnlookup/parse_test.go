package main

import (
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"testing/iotest"
)

func TestRowsThatAreRight(t *testing.T) {
	for _, c := range []struct{ name, row, first, last, owner string }{
		{"IPv4", `1.0.0.0,1.0.0.255,38803,Gtelecom Pty Ltd`, "1.0.0.0", "1.0.0.255", "38803 Gtelecom Pty Ltd"},
		{"IPv6", `2001:200::,2001:200:1b9:ffff:ffff:ffff:ffff:ffff,2500,WIDE Project`, "2001:200::", "2001:200:1b9:ffff:ffff:ffff:ffff:ffff", "2500 WIDE Project"},
		{"IPv4 as a number", `16777216,16777471,13335,x`, "1.0.0.0", "1.0.0.255", "13335 x"},
		{"IPv6 as a number", `42540488161975842760550356425300246528,42540488241204005274814694018844196863,6939,x`, "2001::", "2001:0:ffff:ffff:ffff:ffff:ffff:ffff", "6939 x"},
		{"an IPv4-mapped range is an IPv4 range", `::ffff:1.0.0.0,::ffff:1.0.0.255,1,x`, "1.0.0.0", "1.0.0.255", "1 x"},
		{"a comma in a quoted name", `1.0.0.0,1.0.0.255,13335,"Cloudflare, Inc."`, "1.0.0.0", "1.0.0.255", "13335 Cloudflare, Inc."},
		{"quotes in a quoted name", `1.0.0.0,1.0.0.255,1,"LLC ""SPUTNIK"""`, "1.0.0.0", "1.0.0.255", `1 LLC "SPUTNIK"`},
		{"every field quoted", `"1.0.0.0","1.0.0.255","1","x"`, "1.0.0.0", "1.0.0.255", "1 x"},
		{"no name", `1.0.0.0,1.0.0.255,1,`, "1.0.0.0", "1.0.0.255", "1 "},
		{"a line that ends in CR LF", "1.0.0.0,1.0.0.255,1,x\r", "1.0.0.0", "1.0.0.255", "1 x"},
		{"the highest number", `1.0.0.0,1.0.0.0,4294967295,x`, "1.0.0.0", "1.0.0.0", "4294967295 x"},
		{"all of IPv4", `0.0.0.0,255.255.255.255,0,x`, "0.0.0.0", "255.255.255.255", "0 x"},
		{"all of IPv6", `::,ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff,0,x`, "::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "0 x"},
		{"a name that is not ASCII", `1.0.0.0,1.0.0.0,1,Ürün Çağrı`, "1.0.0.0", "1.0.0.0", "1 Ürün Çağrı"},
		{"the longest line", `1.0.0.0,1.0.0.0,1,` + strings.Repeat("x", maxLine-19), "1.0.0.0", "1.0.0.0", "1 " + strings.Repeat("x", maxLine-19)},
	} {
		t.Run(c.name, func(t *testing.T) {
			tab, err := parseText(t, 0, c.row+"\n")
			if err != nil {
				t.Fatal(err)
			}
			for _, ip := range []string{c.first, c.last} {
				found, ok := tab.lookup(netip.MustParseAddr(ip))
				got := fmt.Sprintf("%v %v %d %s", found.first, found.last, found.asn, found.name)
				if want := c.first + " " + c.last + " " + c.owner; !ok || got != want {
					t.Errorf("%s: %.200s, want %.200s", ip, got, want)
				}
			}
		})
	}
}

// brokenTables are tables that are refused. The error must name the line, and
// contain the text.
var brokenTables = []struct {
	name string
	text string
	line int
	says string
}{
	{"an empty file", "", 0, "the file is empty"},
	{"an empty line", "1.0.0.0,1.0.0.9,1,x\n\n", 2, "the row has 1 fields, not 4"},
	{"a header", "start,end,asn,name\n", 1, `the first address, "start", is not an IP address`},
	{"a first address that is none", "1.0.0.0,1.0.0.9,1,x\n1.0.1.256,1.0.2.0,1,x\n", 2, `the first address, "1.0.1.256", is not an IP address`},
	{"a last address that is none", "1.0.0.0,1.0.0.9.9,1,x\n", 1, `the last address, "1.0.0.9.9", is not an IP address`},
	{"an IPv6 address that is none", "2001:::,2001::1,1,x\n", 1, `the first address, "2001:::", is not an IP address`},
	{"a number beyond IPv6", "1,340282366920938463463374607431768211456,1,x\n", 1, "the last address"},
	{"a zone", "fe80::1%eth0,fe80::2,1,x\n", 1, "the first address"},
	{"an empty address", ",1.0.0.9,1,x\n", 1, `the first address, "", is not`},
	{"a range that ends before it begins", "1.0.0.9,1.0.0.8,1,x\n", 1, "1.0.0.9 - 1.0.0.8 ends before it begins"},
	{"an IPv6 range that ends before it begins", "2001::1:0,2001::,1,x\n", 1, "ends before it begins"},
	{"a range of two families", "1.0.0.0,2001::,1,x\n", 1, "1.0.0.0 - 2001:: mixes IPv4 and IPv6"},
	{"a range inside the one before it", "1.0.0.0,1.0.0.9,1,x\n1.0.0.2,1.0.0.3,1,x\n", 2, "1.0.0.2 - 1.0.0.3 overlaps the one before it, 1.0.0.0 - 1.0.0.9"},
	{"a range that begins inside the one before it", "1.0.0.0,1.0.0.9,1,x\n1.0.0.9,1.0.0.12,1,x\n", 2, "1.0.0.9 - 1.0.0.12 overlaps the one before it"},
	{"a range twice", "1.0.0.0,1.0.0.9,1,x\n1.0.0.0,1.0.0.9,1,x\n", 2, "overlaps the one before it"},
	{"IPv6 ranges that overlap", "2001::,2001::9,1,x\n1.0.0.0,1.0.0.9,1,x\n2001::9,2001::a,1,x\n", 3, "overlaps the one before it"},
	{"ranges out of order", "2.0.0.0,2.0.0.9,1,x\n1.0.0.0,1.0.0.9,1,x\n", 2, "1.0.0.0 - 1.0.0.9 is out of order: it follows 2.0.0.0 - 2.0.0.9"},
	{"a number that is none", "1.0.0.0,1.0.0.9,AS1,x\n", 1, `the number of the autonomous system, "AS1", is not`},
	{"a number beyond 32 bits", "1.0.0.0,1.0.0.9,4294967296,x\n", 1, "is not a decimal number of 32 bits"},
	{"no number", "1.0.0.0,1.0.0.9,,x\n", 1, "is not a decimal number of 32 bits"},
	{"three fields", "1.0.0.0,1.0.0.9,1\n", 1, "the row has 3 fields, not 4"},
	{"five fields", "1.0.0.0,1.0.0.9,1,Cloudflare, Inc.\n", 1, "the row has 5 fields, not 4"},
	{"a quote that is not closed", "1.0.0.0,1.0.0.9,1,\"x\ny\"\n", 1, "a quoted field does not end on its line"},
	{"a quote in an unquoted field", "1.0.0.0,1.0.0.9,1,x \"y\"\n", 1, `a " inside a field that is not quoted`},
	{"text after a quoted field", "1.0.0.0,1.0.0.9,1,\"x\" y\n", 1, `something follows the closing "`},
	{"a name that is not UTF-8", "1.0.0.0,1.0.0.9,1,x\xff\n", 1, "is not UTF-8"},
	{"a line that is too long", "1.0.0.0,1.0.0.9,1,x\n1.0.1.0,1.0.1.9,1," + strings.Repeat("x", maxLine) + "\n", 2, "the line is longer than 65536 bytes"},
	{"a line that is too long by one byte", "1.0.0.0,1.0.0.0,1," + strings.Repeat("x", maxLine-18) + "\n", 1, "the line is longer than 65536 bytes"},
	{"a truncated row", "1.0.0.0,1.0.0.9,1,x\n1.0.1.0,1.0.1.9,1", 2, "the file is truncated"},
	{"a row without its newline", "1.0.0.0,1.0.0.9,1,x\n1.0.1.0,1.0.1.9,1,x", 2, "the file is truncated"},
}

func TestBrokenTablesAreRefusedWithTheLine(t *testing.T) {
	for _, c := range brokenTables {
		t.Run(c.name, func(t *testing.T) {
			_, err := parseText(t, 0, c.text)
			var where *lineError
			if !errors.As(err, &where) {
				t.Fatalf("the error is %v, not a *lineError", err)
			}
			if where.path != "table.csv" || where.line != c.line || !strings.Contains(err.Error(), c.says) {
				t.Errorf("the error is %.300q, want line %d and %q", err, c.line, c.says)
			}
			if prefix := fmt.Sprintf("table.csv:%d: ", c.line); c.line > 0 && !strings.HasPrefix(err.Error(), prefix) {
				t.Errorf("the error is %.300q, want it to begin with %q", err, prefix)
			}
		})
	}
}

func TestAReadErrorIsReportedWithTheLine(t *testing.T) {
	broken := errors.New("the disk is broken")
	tab, p := newTable(), newParser(0)
	err := p.read(tab, "table.csv", iotest.TimeoutReader(iotest.OneByteReader(strings.NewReader("1.0.0.0,1.0.0.9,1,x\n"))))
	if !errors.Is(err, iotest.ErrTimeout) {
		t.Errorf("the error is %v", err)
	}
	err = p.read(tab, "table.csv", iotest.ErrReader(broken))
	if !errors.Is(err, broken) || err.Error() != "table.csv:1: the disk is broken" {
		t.Errorf("the error is %v", err)
	}
}

func TestAFewOverlapsAreToleratedAndTheLaterRangeAnswers(t *testing.T) {
	const text = "10.0.0.0,10.0.2.255,1,x\n10.0.1.0,10.0.3.255,2,y\n2001::,2001:2::,1,x\n2001:1::,2001:3::,2,y\n"
	tab, err := parseText(t, 2, text)
	if err != nil || tab.overlaps != 2 {
		t.Fatalf("%d overlaps, %v", tab.overlaps, err)
	}
	for ip, asn := range map[string]uint32{
		"10.0.0.0": 1, "10.0.0.255": 1, "10.0.1.0": 2, "10.0.2.255": 2, "10.0.3.255": 2,
		"2001::": 1, "2001:0:ffff:ffff:ffff:ffff:ffff:ffff": 1, "2001:1::": 2, "2001:3::": 2,
	} {
		if found, ok := tab.lookup(netip.MustParseAddr(ip)); !ok || found.asn != asn {
			t.Errorf("%s: %+v, %t, want number %d", ip, found, ok, asn)
		}
	}
	for ip, last := range map[string]string{"10.0.0.0": "10.0.0.255", "2001::": "2001:0:ffff:ffff:ffff:ffff:ffff:ffff"} {
		if found, _ := tab.lookup(netip.MustParseAddr(ip)); found.last != netip.MustParseAddr(last) {
			t.Errorf("the range of %s ends at %v, not at %s", ip, found.last, last)
		}
	}
	_, err = parseText(t, 3, text)
	if err == nil || !strings.HasPrefix(err.Error(), "table.csv:2: ") || !strings.Contains(err.Error(), "2 such overlaps in 4 ranges") {
		t.Errorf("two overlaps in four ranges, where one in three is tolerated: %v", err)
	}
	for name, inside := range map[string]string{
		"a range inside another":    "10.0.0.0,10.0.2.255,1,x\n10.0.1.0,10.0.1.255,2,y\n",
		"one that ends with it":     "10.0.0.0,10.0.2.255,1,x\n10.0.1.0,10.0.2.255,2,y\n",
		"one that begins with it":   "10.0.0.0,10.0.2.255,1,x\n10.0.0.0,10.0.3.255,2,y\n",
		"one that begins before it": "10.0.1.0,10.0.2.255,1,x\n10.0.0.0,10.0.1.255,2,y\n",
	} {
		if _, err := parseText(t, 1, inside); err == nil || !strings.HasPrefix(err.Error(), "table.csv:2: ") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestSystemsAndNamesAreKeptOnce(t *testing.T) {
	var text strings.Builder
	const rows, systems, names = 9000, 3000, 1500
	for i := range rows {
		fmt.Fprintf(&text, "%d,%d,%d,name %d\n", i, i, i%systems, i%systems%names)
	}
	tab, err := parseText(t, 0, text.String())
	if err != nil {
		t.Fatal(err)
	}
	unique := map[string]bool{}
	bytes := 0
	for i := range tab.owners {
		if name := string(tab.name(uint32(i))); !unique[name] {
			unique[name] = true
			bytes += len(name)
		}
	}
	if len(tab.v4) != rows || len(tab.owners) != systems || len(unique) != names || len(tab.names) != bytes {
		t.Errorf("%d ranges, %d systems, %d names of %d bytes in %d; want %d, %d, %d", len(tab.v4), len(tab.owners), len(unique), bytes, len(tab.names), rows, systems, names)
	}
	for i := range rows {
		found, ok := tab.lookup(addr4(i).netip())
		if want := fmt.Sprintf("name %d", i%systems%names); !ok || found.asn != uint32(i%systems) || string(found.name) != want {
			t.Fatalf("row %d: %+v, want number %d and %s", i, found, i%systems, want)
		}
	}
}

// FuzzRead: whatever the file is, the parser does not panic, and a table that
// it accepts is in order.
func FuzzRead(f *testing.F) {
	for _, c := range brokenTables {
		if len(c.text) < 1000 {
			f.Add(c.text)
		}
	}
	f.Add(generationCSV(1)[:2000])
	f.Fuzz(func(t *testing.T, text string) {
		tab, err := parseText(t, 2, text)
		if err == nil && (tab.ranges() == 0 || !inOrder(tab.v4) || !inOrder(tab.v6)) {
			t.Errorf("accepted: %v %v", tab.v4, tab.v6)
		}
	})
}

// inOrder reports whether spans ascend and do not overlap.
func inOrder[A address[A]](spans []span[A]) bool {
	for i, s := range spans {
		if s.last.less(s.first) || i > 0 && !spans[i-1].last.less(s.first) {
			return false
		}
	}
	return true
}
