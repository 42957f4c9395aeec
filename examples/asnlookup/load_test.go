package main

import (
	"bytes"
	"context"
	"io"
	"log"
	"net/netip"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

func TestTheLoadModeReportsWhatItMeasured(t *testing.T) {
	var out bytes.Buffer
	c := config{paths: files{tempTable(t, generationCSV(2))}, load: 50 * time.Millisecond}
	if err := measure(t.Context(), c, &out, log.New(io.Discard, "", 0)); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		`table +500 IPv4 and 500 IPv6 ranges of 1 systems, 0\.0 MiB`,
		`first load +[0-9.]+ [KM]iB in \d+ allocations, .*s`,
		`recycled load +[0-9.]+ KiB in \d+ allocations, .*s`,
		`run +.*, \d+ readers, 1 writer, GOMAXPROCS \d+, go1\..*`,
		`reads per second +[1-9]\d*`,
		`lookups that missed +0 of [1-9]\d*`,
		`slowest read +.*s of [1-9]\d* timed \(1 in 1024\).*`,
		`swaps +[1-9]\d*, \d+ postponed.*`,
		`per swap +[0-9.]+ KiB in \d+ allocations, .*s`,
		`objects +[34] created, [34] live: 1 current, 0 held, \d spare`,
		`counting +(asymmetric|portable): .*`,
	} {
		if !regexp.MustCompile(`(?m)^` + line + `$`).MatchString(out.String()) {
			t.Errorf("no line %q in the report:\n%s", line, &out)
		}
	}
}

func TestTheLoadModeEndsWithTheErrorOfABrokenTable(t *testing.T) {
	path := tempTable(t, "broken\n")
	c := config{paths: files{path}, load: time.Hour}
	err := measure(t.Context(), c, io.Discard, log.New(io.Discard, "", 0))
	if err == nil || !strings.HasPrefix(err.Error(), path+":1: ") {
		t.Errorf("the error is %v", err)
	}
}

func TestTheLoadModeEndsEarlyWhenItIsStopped(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	stop()
	var out bytes.Buffer
	c := config{paths: files{tempTable(t, generationCSV(2))}, load: time.Hour}
	if err := measure(ctx, c, &out, log.New(io.Discard, "", 0)); err != nil || out.Len() == 0 {
		t.Errorf("%v; the report is %q", err, &out)
	}
}

// TestRealTable is run with the files of the npm package @ip-location-db/asn in
// the directory that the environment names.
func TestRealTable(t *testing.T) {
	dir := os.Getenv("POOLSWAP_ASN_DIR")
	if dir == "" {
		t.Skip("POOLSWAP_ASN_DIR does not say where the files are")
	}
	texts := files{filepath.Join(dir, "asn-ipv4.csv"), filepath.Join(dir, "asn-ipv6.csv")}
	numbers := files{filepath.Join(dir, "asn-ipv4-num.csv"), filepath.Join(dir, "asn-ipv6-num.csv")}
	logged := new(logBuffer)
	s := newService(texts, 100_000, log.New(logged, "", 0))
	if err := s.reloader.reload("test"); err != nil {
		t.Fatal(err)
	}
	text := s.tables.Acquire()
	defer s.tables.Release(text)
	for ip, want := range map[string]string{"1.1.1.1": `"asn":13335,`, "8.8.8.8": `"asn":15169,`, "2001:4860:4860::8888": `"asn":15169,`, "::ffff:8.8.8.8": `"asn":15169,`} {
		if w := get(s, "GET", "/lookup?ip="+ip); w.Code != 200 || !strings.Contains(w.Body.String(), want) {
			t.Errorf("%s: %d %s, want %s", ip, w.Code, w.Body, want)
		}
	}

	s.reloader.source = numbers
	if err := s.reloader.reload("test"); err != nil {
		t.Fatal(err)
	}
	number := s.tables.Acquire()
	defer s.tables.Release(number)
	if text.ranges() < 300_000 || len(text.v4) != len(number.v4) || len(text.v6) != len(number.v6) || !inOrder(text.v4) || !inOrder(text.v6) {
		t.Fatalf("%v, and as numbers %v", sizeOf(text), sizeOf(number))
	}
	for i, span := range text.v4 {
		checkSame(t, text, number, span.first.netip(), number.v4[i].first.netip())
	}
	for i, span := range text.v6 {
		checkSame(t, text, number, span.first.netip(), number.v6[i].first.netip())
	}
}

// checkSame fails unless two tables say the same of what should be one address.
func checkSame(t *testing.T, a, b *table, ipA, ipB netip.Addr) {
	t.Helper()
	foundA, okA := a.lookup(ipA)
	foundB, okB := b.lookup(ipB)
	if !okA || !okB || foundA.first != foundB.first || foundA.last != foundB.last || foundA.asn != foundB.asn || !bytes.Equal(foundA.name, foundB.name) {
		t.Fatalf("%v: %v, and as a number %v: %v", ipA, foundA, ipB, foundB)
	}
}
