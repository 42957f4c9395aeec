package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/poolswap/poolswap/reload"
)

// generationRanges is how many IPv4 ranges, and how many IPv6 ones, the table
// of a generation has. It grows and shrinks from one to the next.
func generationRanges(generation int) int { return 200 + 150*(generation%3) }

// generationCSV returns a table in which each row names the generation, as its
// AS number and in its name.
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

// rows returns n rows, one address each.
func rows(n int) string {
	var text strings.Builder
	for i := range n {
		ip := netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)})
		fmt.Fprintf(&text, "%v,%v,%d,\"name, %d\"\n", ip, ip, i%3000, i%3000)
	}
	return text.String()
}

// checkGeneration returns the generation of a table. It fails unless several
// answers agree on it.
func checkGeneration(t *testing.T, tab *table) int {
	generation := -1
	for _, text := range []string{"10.0.0.0", "10.0.199.255", "10.0.77.7", "2001:db8::", "2001:db8:c7:ffff:ffff:ffff:ffff:ffff", "2001:db8:4d::7"} {
		m, ok := tab.lookup(netip.MustParseAddr(text))
		if !ok {
			t.Errorf("%s is not in the table", text)
			continue
		}
		if generation < 0 {
			generation = int(m.asn)
		}
		if int(m.asn) != generation || string(m.name) != fmt.Sprintf("generation, %d", generation) {
			t.Errorf("%s has number %d and name %q in a table of generation %d", text, m.asn, m.name, generation)
		}
	}
	if want := 2 * generationRanges(generation); len(tab.spans) != want {
		t.Errorf("a table of generation %d has %d ranges, not %d", generation, len(tab.spans), want)
	}
	return generation
}

func currentGeneration(t *testing.T, s *service) (generation int) {
	s.tables.WithAcquire(func(tab *table) { generation = checkGeneration(t, tab) })
	return generation
}

// replaceFile moves a new file with that text over path.
func replaceFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path+".new", []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
}

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

// newTestService returns a service and its log. maxShrink is 100 for tests
// that are not about it.
func newTestService(maxShrink int, paths ...string) (*service, *logBuffer) {
	logged := new(logBuffer)
	return newService(paths, 0, maxShrink, slog.New(slog.NewTextHandler(logged, nil))), logged
}

// loadedService is newTestService with the first table loaded.
func loadedService(t *testing.T, maxShrink int, paths ...string) (*service, *logBuffer) {
	t.Helper()
	s, logged := newTestService(maxShrink, paths...)
	mustReload(t, s)
	return s, logged
}

func mustReload(t *testing.T, s *service) {
	t.Helper()
	if err := s.reloader.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// parseFiles fills a table from files.
func parseFiles(ctx context.Context, t *table, p *parser, paths ...string) error {
	content, err := filesOf(paths).Fetch(ctx, "")
	if err != nil {
		return err
	}
	defer content.Body.Close()
	return p.read(t, content.Parts)
}

// parseText returns the table that the text makes, as a file of that path.
func parseText(overlapOneIn int, text string) (t *table, path string, err error) {
	t, path = newTable(), "table.csv"
	p := newParser()
	p.overlapOneIn = overlapOneIn
	return t, path, p.read(t, fileOf(path, text))
}

// fileOf returns the content of a file with that text.
func fileOf(path, text string) []*reload.Content {
	return []*reload.Content{{Source: path, Body: io.NopCloser(strings.NewReader(text))}}
}

// countdown is a context that ends at a given call of Err.
type countdown struct {
	context.Context
	calls atomic.Int64
}

func endsAfter(calls int64) *countdown {
	ctx := &countdown{Context: context.Background()}
	ctx.calls.Store(calls)
	return ctx
}

func (c *countdown) Err() error {
	if c.calls.Add(-1) < 0 {
		return context.Canceled
	}
	return nil
}
