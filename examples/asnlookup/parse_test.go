package main

import (
	"encoding/csv"
	"fmt"
	"hash/maphash"
	"net/netip"
	"strings"
	"testing"
)

func TestRowsThatAreRight(t *testing.T) {
	for _, c := range []struct{ name, row, first, last, system string }{
		{"IPv4", `1.0.0.0,1.0.0.255,38803,Gtelecom Pty Ltd`, "1.0.0.0", "1.0.0.255", "38803 Gtelecom Pty Ltd"},
		{"IPv6", `2001:200::,2001:200:1b9:ffff:ffff:ffff:ffff:ffff,2500,WIDE Project`, "2001:200::", "2001:200:1b9:ffff:ffff:ffff:ffff:ffff", "2500 WIDE Project"},
		{"an IPv4-mapped range is an IPv4 range", `::ffff:1.0.0.0,::ffff:1.0.0.255,1,x`, "1.0.0.0", "1.0.0.255", "1 x"},
		{"a comma in a quoted name", `1.0.0.0,1.0.0.255,13335,"Cloudflare, Inc."`, "1.0.0.0", "1.0.0.255", "13335 Cloudflare, Inc."},
		{"quotes in a quoted name", `1.0.0.0,1.0.0.255,1,"LLC ""SPUTNIK"""`, "1.0.0.0", "1.0.0.255", `1 LLC "SPUTNIK"`},
		{"no name", `1.0.0.0,1.0.0.255,1,`, "1.0.0.0", "1.0.0.255", "1 "},
		{"a line that ends in CR LF", "1.0.0.0,1.0.0.255,1,x\r", "1.0.0.0", "1.0.0.255", "1 x"},
		{"the highest number", `1.0.0.0,1.0.0.0,4294967295,x`, "1.0.0.0", "1.0.0.0", "4294967295 x"},
		{"all of IPv4", `0.0.0.0,255.255.255.255,0,x`, "0.0.0.0", "255.255.255.255", "0 x"},
		{"the end of IPv6", `ffff::,ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff,0,x`, "ffff::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "0 x"},
		{"a name that is not ASCII", `1.0.0.0,1.0.0.0,1,Ürün Çağrı`, "1.0.0.0", "1.0.0.0", "1 Ürün Çağrı"},
		{"the longest line", `1.0.0.0,1.0.0.0,1,` + strings.Repeat("x", maxLine-19), "1.0.0.0", "1.0.0.0", "1 " + strings.Repeat("x", maxLine-19)},
	} {
		t.Run(c.name, func(t *testing.T) {
			tab, _, err := parseText(overlapOneIn, c.row+"\n")
			if err != nil {
				t.Fatal(err)
			}
			for _, ip := range []string{c.first, c.last} {
				m, ok := tab.lookup(netip.MustParseAddr(ip))
				got := fmt.Sprintf("%v %v %d %s", m.first, m.last, m.asn, m.name)
				if want := c.first + " " + c.last + " " + c.system; !ok || got != want {
					t.Errorf("%s: %.200s, want %.200s", ip, got, want)
				}
			}
		})
	}
}

// brokenTables are refused with an error that names the line and contains the
// text.
var brokenTables = []struct {
	name string
	text string
	line int
	says string
}{
	{"an empty file", "", 1, "the file is empty"},
	{"an empty line", "1.0.0.0,1.0.0.9,1,x\n\n", 2, "fewer than four fields"},
	{"a header", "start,end,asn,name\n", 1, `"start" is not an IP address`},
	{"a first address that is none", "1.0.0.0,1.0.0.9,1,x\n1.0.1.256,1.0.2.0,1,x\n", 2, `"1.0.1.256" is not an IP address`},
	{"a last address that is none", "1.0.0.0,1.0.0.9.9,1,x\n", 1, `"1.0.0.9.9" is not an IP address`},
	{"a zone", "fe80::1%eth0,fe80::2,1,x\n", 1, "is not an IP address without a zone"},
	{"an empty address", ",1.0.0.9,1,x\n", 1, `"" is not an IP address`},
	{"a range that ends before it begins", "1.0.0.9,1.0.0.8,1,x\n", 1, "1.0.0.9 - 1.0.0.8 is not a range"},
	{"a range of two families", "1.0.0.0,2001::,1,x\n", 1, "1.0.0.0 - 2001:: is not a range"},
	{"a range inside the one before it", "1.0.0.0,1.0.0.9,1,x\n1.0.0.2,1.0.0.3,1,x\n", 2, "1.0.0.2 - 1.0.0.3 does not follow the one before it, 1.0.0.0 - 1.0.0.9 (ranges ascend and do not overlap, IPv4 before IPv6) (1 overlap in 2 ranges"},
	{"a range that begins inside the one before it", "1.0.0.0,1.0.0.9,1,x\n1.0.0.9,1.0.0.12,1,x\n", 2, "1 overlap in 2 ranges"},
	{"a range twice", "1.0.0.0,1.0.0.9,1,x\n1.0.0.0,1.0.0.9,1,x\n", 2, "does not follow the one before it"},
	{"IPv6 before IPv4", "2001::,2001::9,1,x\n1.0.0.0,1.0.0.9,1,x\n", 2, "IPv4 before IPv6"},
	{"ranges out of order", "2.0.0.0,2.0.0.9,1,x\n1.0.0.0,1.0.0.9,1,x\n", 2, "1.0.0.0 - 1.0.0.9 does not follow the one before it, 2.0.0.0 - 2.0.0.9"},
	{"a number that is none", "1.0.0.0,1.0.0.9,AS1,x\n", 1, `parsing "AS1": invalid syntax`},
	{"a number beyond 32 bits", "1.0.0.0,1.0.0.9,4294967296,x\n", 1, "value out of range"},
	{"three fields", "1.0.0.0,1.0.0.9,1\n", 1, "fewer than four fields"},
	{"five fields", "1.0.0.0,1.0.0.9,1,Cloudflare, Inc.\n", 1, "more than four fields"},
	{"a quote that is not closed", "1.0.0.0,1.0.0.9,1,\"x\ny\"\n", 1, "not valid CSV"},
	{"a quote in an unquoted name", "1.0.0.0,1.0.0.9,1,x \"y\"\n", 1, "not valid CSV"},
	{"text after a quoted name", "1.0.0.0,1.0.0.9,1,\"x\" y\n", 1, "not valid CSV"},
	{"a name that is not UTF-8", "1.0.0.0,1.0.0.9,1,x\xff\n", 1, "in UTF-8"},
	{"a line that is too long by one byte", "1.0.0.0,1.0.0.0,1," + strings.Repeat("x", maxLine-18) + "\n", 1, "the line is longer than 65536 bytes"},
	{"a row that is cut short", "1.0.0.0,1.0.0.9,1,x\n1.0.1.0,1.0.1.9,1", 2, "the file is truncated"},
	{"a row without its newline", "1.0.0.0,1.0.0.9,1,x\n1.0.1.0,1.0.1.9,1,x", 2, "the file is truncated"},
}

func TestBrokenTablesAreRefusedWithTheLine(t *testing.T) {
	for _, c := range brokenTables {
		t.Run(c.name, func(t *testing.T) {
			_, path, err := parseText(overlapOneIn, c.text)
			if err == nil {
				t.Fatal("it is accepted")
			}
			if where := fmt.Sprintf("%s:%d: ", path, c.line); !strings.HasPrefix(err.Error(), where) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("the error is %.300q, want %q and %q", err, where, c.says)
			}
		})
	}
}

func TestAFewOverlapsAreToleratedAndTheLaterRangeAnswers(t *testing.T) {
	const text = "10.0.0.0,10.0.2.255,1,x\n10.0.1.0,10.0.3.255,2,y\n2001::,2001:2::,1,x\n2001:1::,2001:3::,2,y\n"
	tab, _, err := parseText(2, text)
	if err != nil || tab.overlaps != 2 {
		t.Fatalf("%d overlaps, %v", tab.overlaps, err)
	}
	for ip, asn := range map[string]uint32{
		"10.0.0.0": 1, "10.0.0.255": 1, "10.0.1.0": 2, "10.0.2.255": 2, "10.0.3.255": 2,
		"2001::": 1, "2001:0:ffff:ffff:ffff:ffff:ffff:ffff": 1, "2001:1::": 2, "2001:3::": 2,
	} {
		if m, ok := tab.lookup(netip.MustParseAddr(ip)); !ok || m.asn != asn {
			t.Errorf("%s: %+v, %t, want number %d", ip, m, ok, asn)
		}
	}
	for ip, last := range map[string]string{"10.0.0.0": "10.0.0.255", "2001::": "2001:0:ffff:ffff:ffff:ffff:ffff:ffff"} {
		if m, _ := tab.lookup(netip.MustParseAddr(ip)); m.last != netip.MustParseAddr(last) {
			t.Errorf("the range of %s ends at %v, not at %s", ip, m.last, last)
		}
	}
	if _, path, err := parseText(3, text); err == nil || !strings.HasPrefix(err.Error(), path+":2: ") || !strings.Contains(err.Error(), "2 overlaps in 4 ranges") {
		t.Errorf("two overlaps in four ranges, where one in three is tolerated: %v", err)
	}
	for name, second := range map[string]string{
		"a range that begins with the one before it": "10.0.0.0,10.0.3.255,2,y\n",
		"one that begins before it":                  "9.255.0.0,10.0.1.255,2,y\n",
	} {
		if _, path, err := parseText(1, "10.0.0.0,10.0.2.255,1,x\n"+second); err == nil || !strings.HasPrefix(err.Error(), path+":2: ") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestARangeInsideAnotherSplitsIt where, as in published tables, the rest of the
// other has a row of its own.
func TestARangeInsideAnotherSplitsIt(t *testing.T) {
	tab, _, err := parseText(3, "6.134.192.0,7.255.255.255,749,x\n7.193.230.0,7.193.230.255,2685,y\n7.193.231.0,7.255.255.255,749,x\n")
	if err != nil || tab.overlaps != 1 {
		t.Fatalf("%d overlaps, %v", tab.overlaps, err)
	}
	for ip, asn := range map[string]uint32{"6.134.192.0": 749, "7.193.229.255": 749, "7.193.230.0": 2685, "7.193.230.255": 2685, "7.193.231.0": 749, "7.255.255.255": 749} {
		if m, ok := tab.lookup(netip.MustParseAddr(ip)); !ok || m.asn != asn {
			t.Errorf("%s: %+v, %t, want number %d", ip, m, ok, asn)
		}
	}
}

func TestSystemsAreKeptOnce(t *testing.T) {
	const n, systems = 9000, 3000
	tab, _, err := parseText(overlapOneIn, rows(n))
	if err != nil || len(tab.spans) != n || len(tab.systems) != systems {
		t.Fatalf("%d ranges, %d systems, %v; want %d, %d", len(tab.spans), len(tab.systems), err, n, systems)
	}
	for i, s := range tab.spans {
		if asn, name := tab.systems[s.system].asn, string(tab.name(s.system)); asn != uint32(i%systems) || name != fmt.Sprintf("name, %d", i%systems) {
			t.Fatalf("row %d: number %d, name %q", i, asn, name)
		}
	}
}

func TestNamesWithOneHashStayApart(t *testing.T) {
	tab, p := newTable(), newParser()
	a := p.system(tab, row{asn: 1, name: []byte("a")})
	for key := range p.systems { // as if b had the hash of a
		delete(p.systems, key)
	}
	b := row{asn: 1, name: []byte("b")}
	p.systems[systemKey{maphash.Bytes(p.seed, b.name), 1}] = a
	if got := p.system(tab, b); got == a || string(tab.name(got)) != "b" {
		t.Errorf("b is system %d, named %q", got, tab.name(got))
	}
}

func TestUnquoteAgreesWithEncodingCSV(t *testing.T) {
	const letters = `a",`
	fields := []string{""}
	for range 8 {
		var longer []string
		for _, field := range fields {
			for _, letter := range letters {
				longer = append(longer, field+string(letter))
			}
		}
		for _, field := range longer {
			record, err := csv.NewReader(strings.NewReader("x," + field)).Read()
			ok := err == nil && len(record) == 2
			got, err := unquote([]byte(field))
			if (err == nil) != ok || ok && string(got) != record[1] {
				t.Fatalf("unquote(%q) = %q, %v; encoding/csv says %q", field, got, err, record)
			}
		}
		fields = longer
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
		tab, _, err := parseText(2, text)
		if err != nil {
			return
		}
		if len(tab.spans) == 0 {
			t.Error("an empty table is accepted")
		}
		for i, s := range tab.spans {
			if s.last.less(s.first) || i > 0 && !tab.spans[i-1].last.less(s.first) {
				t.Errorf("range %d is out of order: %v", i, tab.spans)
			}
		}
	})
}
