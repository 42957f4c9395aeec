package main

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"strings"
	"testing"
)

// oracleRow is a range as a slow and obvious lookup wants it.
type oracleRow struct {
	first, last netip.Addr
	asn         uint32
	name        string
}

// oracleLookup looks at every row.
func oracleLookup(rows []oracleRow, ip netip.Addr) (found oracleRow, ok bool) {
	ip = ip.Unmap()
	for _, row := range rows {
		if row.first.BitLen() == ip.BitLen() && row.first.Compare(ip) <= 0 && ip.Compare(row.last) <= 0 {
			return row, true
		}
	}
	return oracleRow{}, false
}

// randomRows returns ascending ranges of one family, some of which touch, and
// some of which are one address.
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
	tab := newTable() // one for all, as it would be recycled
	for round := range 60 {
		rows := randomRows(random, random.IntN(80), netip.MustParseAddr("10.0.255.128"))
		rows = append(rows, randomRows(random, 1+random.IntN(80), netip.MustParseAddr("2001:db8::ffff:ffff:ffff:ff80"))...)
		if round == 0 { // the ends of both spaces
			rows = []oracleRow{
				{netip.MustParseAddr("0.0.0.0"), netip.MustParseAddr("0.0.0.9"), 1, "low"},
				{netip.MustParseAddr("255.255.255.9"), netip.MustParseAddr("255.255.255.255"), 2, "high"},
				{netip.MustParseAddr("::"), netip.MustParseAddr("::9"), 3, "low"},
				{netip.MustParseAddr("ffff::"), netip.MustParseAddr("ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"), 4, "high"},
			}
		}
		var text strings.Builder
		for _, row := range rows {
			fmt.Fprintf(&text, "%v,%v,%d,\"%s\"\n", row.first, row.last, row.asn, strings.ReplaceAll(row.name, `"`, `""`))
		}
		tab.reset()
		p := newParser(0)
		if err := p.read(tab, "table.csv", strings.NewReader(text.String())); err != nil {
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
			ips = append(ips,
				addr4(10<<24|0xff80+random.Uint32N(2000)).netip(),
				addr6{0x20010db8_00000000, 0xffff_ffff_ffff_ff80 + random.Uint64N(127)}.netip(),
				addr6{0x20010db8_00000001, random.Uint64N(2000)}.netip(),
				netip.MustParseAddr(randomAddr(random)))
		}
		for _, ip := range ips {
			for _, ip := range []netip.Addr{ip, netip.AddrFrom16(ip.As16())} { // as it is, and IPv4-mapped
				checkLookup(t, tab, rows, ip)
			}
		}
	}
}

func checkLookup(t *testing.T, tab *table, rows []oracleRow, ip netip.Addr) {
	t.Helper()
	found, ok := tab.lookup(ip)
	want, wantOK := oracleLookup(rows, ip)
	got := oracleRow{found.first, found.last, found.asn, string(found.name)}
	if ok != wantOK || got != want {
		t.Fatalf("lookup of %v: %v, %t; want %v, %t", ip, got, ok, want, wantOK)
	}
}

func TestLookupDoesNotAllocate(t *testing.T) {
	tab, err := parseText(t, 0, generationCSV(1))
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
	tab, err := parseText(t, 1, "10.0.0.0,10.0.2.255,1,x\n10.0.1.0,10.0.3.255,2,y\n2001::,2001:2::,1,x\n")
	if err != nil {
		t.Fatal(err)
	}
	v4, v6, owners, names := cap(tab.v4), cap(tab.v6), cap(tab.owners), cap(tab.names)
	if !tab.reset() {
		t.Error("reset refuses the table")
	}
	if tab.size() != 0 || tab.ranges() != 0 || tab.overlaps != 0 {
		t.Errorf("%d bytes, %d ranges and %d overlaps are left", tab.size(), tab.ranges(), tab.overlaps)
	}
	if cap(tab.v4) != v4 || cap(tab.v6) != v6 || cap(tab.owners) != owners || cap(tab.names) != names || v4*v6*owners*names == 0 {
		t.Error("the memory is gone")
	}
	if _, ok := tab.lookup(netip.MustParseAddr("10.0.0.0")); ok {
		t.Error("an address is still found")
	}
}

func TestPrevGoesBackByOne(t *testing.T) {
	for _, text := range []string{"10.0.0.0", "10.1.0.0", "2001::", "2001::1", "2001:0:0:1::", "ffff::"} {
		ip := netip.MustParseAddr(text)
		got := addr6Of(ip).prev().netip()
		if ip.Is4() {
			got = addr4Of(ip).prev().netip()
		}
		if got != ip.Prev() {
			t.Errorf("the address before %v is %v, not %v", ip, got, ip.Prev())
		}
	}
}
