package main

import (
	"bytes"
	"fmt"
	"log"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// generationRanges is how many IPv4 ranges, and how many IPv6 ones, the table of
// a generation has: more and less from one to the next.
func generationRanges(generation int) int { return 200 + 150*(generation%3) }

// generationCSV returns a table in which every range says which generation it
// is of, in the number and in the name.
func generationCSV(generation int) string {
	var text strings.Builder
	n := generationRanges(generation)
	for i := range n {
		fmt.Fprintf(&text, "10.%d.%d.0,10.%d.%d.255,%d,\"generation, %d\"\n", i/256, i%256, i/256, i%256, generation, generation)
	}
	for i := range n {
		fmt.Fprintf(&text, "2001:db8:%x::,2001:db8:%x:ffff:ffff:ffff:ffff:ffff,%d,\"generation, %d\"\n", i, i, generation, generation)
	}
	return text.String()
}

// checkGeneration looks up several addresses in one table and fails unless all
// answers are of one generation, which it returns.
func checkGeneration(t *testing.T, tab *table) int {
	generation := -1
	for _, text := range []string{"10.0.0.0", "10.0.199.255", "10.0.77.7", "2001:db8::", "2001:db8:c7:ffff:ffff:ffff:ffff:ffff", "2001:db8:4d::7"} {
		found, ok := tab.lookup(netip.MustParseAddr(text))
		if !ok {
			t.Errorf("%s is not in the table", text)
			continue
		}
		if generation < 0 {
			generation = int(found.asn)
		}
		if int(found.asn) != generation || string(found.name) != fmt.Sprintf("generation, %d", generation) {
			t.Errorf("%s has number %d and name %q in a table of generation %d", text, found.asn, found.name, generation)
		}
	}
	if generation >= 0 && (len(tab.v4) != generationRanges(generation) || len(tab.v6) != len(tab.v4)) {
		t.Errorf("a table of generation %d has %d and %d ranges, not %d", generation, len(tab.v4), len(tab.v6), generationRanges(generation))
	}
	return generation
}

// currentGeneration is checkGeneration of the current table.
func currentGeneration(t *testing.T, s *service) (generation int) {
	s.tables.WithAcquire(func(tab *table) { generation = checkGeneration(t, tab) })
	return generation
}

// replaceFile puts text into a file in the way that is safe for readers.
func replaceFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path+".new", []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
}

// tempTable returns the path of a new file with that text.
func tempTable(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "table.csv")
	replaceFile(t, path, text)
	return path
}

// logBuffer collects what is logged.
type logBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *logBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *logBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// newTestService returns a service that tolerates no overlap, and its log.
func newTestService(src source) (*service, *logBuffer) {
	logged := new(logBuffer)
	return newService(src, 0, log.New(logged, "", 0)), logged
}

// loadedService is newTestService with the first table loaded.
func loadedService(t *testing.T, src source) (*service, *logBuffer) {
	t.Helper()
	s, logged := newTestService(src)
	if err := s.reloader.reload("start"); err != nil {
		t.Fatal(err)
	}
	return s, logged
}

// parseText returns the table that the text makes.
func parseText(t *testing.T, oneIn int, text string) (*table, error) {
	t.Helper()
	tab, p := newTable(), newParser(oneIn)
	p.begin()
	if err := p.read(tab, "table.csv", strings.NewReader(text)); err != nil {
		return tab, err
	}
	return tab, p.end(tab)
}
