package main

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
)

// edition is one published version of a table: its files, IPv4 before IPv6, and
// what they say. It is read by encoding/csv and searched by netip's order, so that
// it shares no code with the service.
type edition struct {
	files []string
	rows  []editionRow
}

type editionRow struct {
	first, last netip.Addr
	asn, name   string
}

func readEdition(t *testing.T, files []string) *edition {
	t.Helper()
	e := &edition{files: files}
	for _, name := range files {
		file, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		records := csv.NewReader(file)
		records.FieldsPerRecord = 4
		for {
			record, err := records.Read()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(name, err)
			}
			e.add(editionRow{netip.MustParseAddr(record[0]), netip.MustParseAddr(record[1]), record[2], record[3]})
		}
	}
	return e
}

// add adds a row. One that begins inside the row before it cuts that one short, as
// README.md says.
func (e *edition) add(row editionRow) {
	if n := len(e.rows); n > 0 && row.first.Compare(e.rows[n-1].last) <= 0 {
		e.rows[n-1].last = row.first.Prev()
	}
	e.rows = append(e.rows, row)
}

// answer returns the line that the service must answer with, but for the number
// of the version and the brace that end it.
func (e *edition) answer(ip netip.Addr) string {
	next, found := slices.BinarySearchFunc(e.rows, ip, func(row editionRow, ip netip.Addr) int { return row.first.Compare(ip) })
	if found {
		next++
	}
	if next == 0 || e.rows[next-1].last.Less(ip) {
		return `{"error":"the address is in no range of the table","version":`
	}
	row := e.rows[next-1]
	name, _ := json.Marshal(row.name) // cannot fail for a string
	return fmt.Sprintf(`{"ip":%q,"asn":%s,"name":%s,"first":%q,"last":%q,"version":`, ip, row.asn, name, row.first, row.last)
}

// probe is an address, and the answer of each edition.
type probe struct {
	ip      string
	answers [2]string
}

// probes returns addresses at the ends of some rows of both editions, beside
// them, and between. Half of them at least have answers that differ.
func probes(t *testing.T, editions [2]*edition) (all []probe) {
	t.Helper()
	const wanted = 2000
	random := rand.New(rand.NewPCG(1, 2))
	differ := 0
	for tries := 0; len(all) < wanted; tries++ {
		if tries == 100*wanted {
			t.Fatal("the editions hardly differ")
		}
		rows := editions[tries%2].rows
		row := rows[random.IntN(len(rows))]
		between := row.first.AsSlice()
		between[len(between)-1] |= 1
		inside, _ := netip.AddrFromSlice(between)
		for _, ip := range []netip.Addr{row.first, row.last, row.first.Prev(), row.last.Next(), inside} {
			if !ip.IsValid() {
				continue // before the first address, or behind the last
			}
			p := probe{ip.String(), [2]string{editions[0].answer(ip), editions[1].answer(ip)}}
			switch same := len(all) - differ; {
			case p.answers[0] != p.answers[1]:
				differ++
			case same >= wanted/2:
				continue
			}
			all = append(all, p)
		}
	}
	return all
}

// publishedEditions returns the editions that the environment names.
func publishedEditions(t *testing.T) [2]*edition {
	return [2]*edition{readEdition(t, realTable(t, "POOLSWAP_ASN_OLD_DIR")), readEdition(t, realTable(t, "POOLSWAP_ASN_DIR"))}
}

// madeUpEditions returns small editions of the same form: ranges that adjoin or
// leave gaps, systems with many ranges, names that CSV has to quote.
func madeUpEditions(t *testing.T) (editions [2]*edition) {
	t.Helper()
	for i := range editions {
		random := rand.New(rand.NewPCG(3, uint64(i)))
		dir := t.TempDir()
		files := []string{filepath.Join(dir, "asn-ipv4.csv"), filepath.Join(dir, "asn-ipv6.csv")}
		writeRanges(t, random, files[0], 4000, netip.MustParseAddr("10.0.0.0"))
		writeRanges(t, random, files[1], 1000, netip.MustParseAddr("2001:db8::"))
		editions[i] = readEdition(t, files)
	}
	return editions
}

// writeRanges writes some n rows, each within 256 addresses of its own.
func writeRanges(t *testing.T, random *rand.Rand, path string, n int, from netip.Addr) {
	t.Helper()
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	rows := csv.NewWriter(file)
	names := []string{"Plain", "Example, Inc.", `The "Net"`, "Société <A & B>"}
	for i := range n {
		if random.IntN(20) == 0 {
			continue // of a gap
		}
		first, last := random.IntN(2)*random.IntN(100), 255-random.IntN(2)*random.IntN(100)
		at := func(offset int) string {
			bytes := from.AsSlice()
			end := len(bytes) - 1
			bytes[end-2], bytes[end-1], bytes[end] = byte(i>>8), byte(i), byte(offset)
			ip, _ := netip.AddrFromSlice(bytes)
			return ip.String()
		}
		system := random.IntN(500)
		if err := rows.Write([]string{at(first), at(last), strconv.Itoa(64496 + system), fmt.Sprintf("%s %d", names[system%len(names)], system)}); err != nil {
			t.Fatal(err)
		}
	}
	rows.Flush()
	if err := errors.Join(rows.Error(), file.Close()); err != nil {
		t.Fatal(err)
	}
}
