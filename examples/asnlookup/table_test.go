package main

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"os"
	"strings"
	"testing"
)

// oracleRow is a range for a slow and obvious lookup.
type oracleRow struct {
	first, last netip.Addr
	asn         uint32
	name        string
}

// oracleLookup looks at every row.
func oracleLookup(rows []oracleRow, ip netip.Addr) (oracleRow, bool) {
	ip = ip.Unmap()
	for _, row := range rows {
		if row.first.BitLen() == ip.BitLen() && row.first.Compare(ip) <= 0 && ip.Compare(row.last) <= 0 {
			return row, true
		}
	}
	return oracleRow{}, false
}

// randomRows returns ascending ranges, some of which touch, and some of which
// are one address.
func randomRows(random *rand.Rand, n int, at netip.Addr) []oracleRow {
	rows := make([]oracleRow, n)
	skip := func(most int) {
		for range random.IntN(most) {
			at = at.Next()
		}
	}
	for i := range rows {
		skip(4)
		first := at
		skip(30)
		asn := random.Uint32N(50)
		rows[i] = oracleRow{first, at, asn, fmt.Sprintf(`name "%d", %d`, asn%40, asn%3)}
		at = at.Next()
	}
	return rows
}

func TestLookupFindsWhatALinearScanFinds(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	tab, p := newTable(), newParser() // the same for all rounds, as a recycled table is
	for round := range 60 {
		rows := randomRows(random, random.IntN(80), netip.MustParseAddr("10.0.255.128"))
		rows = append(rows, randomRows(random, 1+random.IntN(80), netip.MustParseAddr("2001:db8::ffff:ffff:ffff:ff80"))...)
		if round == 0 { // the ends of both families
			rows = []oracleRow{
				{netip.MustParseAddr("0.0.0.0"), netip.MustParseAddr("0.0.0.9"), 1, "low"},
				{netip.MustParseAddr("255.255.255.9"), netip.MustParseAddr("255.255.255.255"), 2, "high"},
				{netip.MustParseAddr("2001::"), netip.MustParseAddr("2001::9"), 3, "low"},
				{netip.MustParseAddr("ffff::"), netip.MustParseAddr("ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"), 4, "high"},
			}
		}
		var text strings.Builder
		for _, row := range rows {
			fmt.Fprintf(&text, "%v,%v,%d,\"%s\"\n", row.first, row.last, row.asn, strings.ReplaceAll(row.name, `"`, `""`))
		}
		tab.reset()
		if err := p.read(tab, fileOf("table.csv", text.String())); err != nil {
			t.Fatal(err)
		}

		var ips []netip.Addr
		for _, row := range rows { // every edge and what is beside it
			ips = append(ips, row.first, row.last)
			if ip := row.first.Prev(); ip.IsValid() {
				ips = append(ips, ip)
			}
			if ip := row.last.Next(); ip.IsValid() {
				ips = append(ips, ip)
			}
		}
		for range 500 {
			n := random.Uint32N(4000)
			ips = append(ips, netip.AddrFrom4([4]byte{10, 0, byte(n>>8) + 0xf8, byte(n)}))
			var b [16]byte
			for i := range b {
				b[i] = byte(random.Uint32())
			}
			ips = append(ips, netip.AddrFrom16(b))
		}
		for _, ip := range ips {
			for _, ip := range []netip.Addr{ip, netip.AddrFrom16(ip.As16())} { // as it is, and IPv4-mapped
				m, ok := tab.lookup(ip)
				got := oracleRow{m.first, m.last, m.asn, string(m.name)}
				if want, wantOK := oracleLookup(rows, ip); ok != wantOK || got != want {
					t.Fatalf("lookup of %v: %v, %t; want %v, %t", ip, got, ok, want, wantOK)
				}
			}
		}
	}
}

func TestLookupDoesNotAllocate(t *testing.T) {
	tab, _, err := parseText(overlapOneIn, generationCSV(1))
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"10.0.77.7", "2001:db8:4d::7", "::ffff:10.0.77.7", "192.0.2.1"} {
		ip := netip.MustParseAddr(text)
		if n := testing.AllocsPerRun(100, func() { tab.lookup(ip) }); n != 0 {
			t.Errorf("a lookup of %v allocates %v times", ip, n)
		}
	}
}

func TestResetEmptiesATableAndKeepsItsMemory(t *testing.T) {
	tab, _, err := parseText(1, "10.0.0.0,10.0.2.255,1,x\n10.0.1.0,10.0.3.255,2,y\n2001::,2001:2::,1,x\n")
	if err != nil {
		t.Fatal(err)
	}
	spans, systems, names := cap(tab.spans), cap(tab.systems), cap(tab.names)
	if !tab.reset() {
		t.Error("reset refuses the table")
	}
	if tab.bytes() != 0 || infoOf(0, tab) != (tableInfo{}) {
		t.Errorf("%+v is left", infoOf(0, tab))
	}
	if cap(tab.spans) != spans || cap(tab.systems) != systems || cap(tab.names) != names || spans*systems*names == 0 {
		t.Error("the memory is gone")
	}
	if _, ok := tab.lookup(netip.MustParseAddr("10.0.0.0")); ok {
		t.Error("an address is still found")
	}
}

func TestTheSampleIsATable(t *testing.T) {
	text, err := os.ReadFile("sample.csv")
	if err != nil {
		t.Fatal(err)
	}
	tab, _, err := parseText(overlapOneIn, string(text))
	if err != nil {
		t.Fatal(err)
	}
	if m, ok := tab.lookup(netip.MustParseAddr("203.0.113.7")); !ok || m.asn != 64498 || string(m.name) != `The "Example" Company` {
		t.Errorf("%+v, %t", m, ok)
	}
}
