package main

import (
	"errors"
	"math/rand/v2"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/poolswap/poolswap"
)

// realTable returns the files of the npm package @ip-location-db/asn, from the
// directory that a variable of the environment names.
func realTable(t testing.TB, variable string) []string {
	t.Helper()
	dir := os.Getenv(variable)
	if dir == "" {
		t.Skip(variable, "does not name the directory of a real table: README.md shows how to get it")
	}
	return []string{filepath.Join(dir, "asn-ipv4.csv"), filepath.Join(dir, "asn-ipv6.csv")}
}

func TestRealTable(t *testing.T) {
	s, _ := loadedService(t, 10, realTable(t, "POOLSWAP_ASN_DIR")...)
	for ip, want := range map[string]string{"1.1.1.1": `"asn":13335,`, "8.8.8.8": `"asn":15169,`, "2001:4860:4860::8888": `"asn":15169,`, "::ffff:8.8.8.8": `"asn":15169,`} {
		if w := do(s, "GET", "/lookup?ip="+ip, ""); w.Code != 200 || !strings.Contains(w.Body.String(), want) {
			t.Errorf("%s: %d %s, want %s", ip, w.Code, w.Body, want)
		}
	}
	s.tables.WithAcquire(func(tab *table) {
		if len(tab.spans) < 300_000 {
			t.Errorf("the table is %v", infoOf(0, tab))
		}
		for i, span := range tab.spans {
			if span.last.less(span.first) || i > 0 && !tab.spans[i-1].last.less(span.first) {
				t.Fatalf("range %d is out of order", i)
			}
		}
	})
}

// BenchmarkLoad reads the real table into new memory and into a recycled table.
func BenchmarkLoad(b *testing.B) {
	paths := realTable(b, "POOLSWAP_ASN_DIR")
	fill := func(b *testing.B, p *parser, t *table) {
		if err := parseFiles(b.Context(), t, p, paths...); err != nil {
			b.Fatal(err)
		}
	}
	b.Run("new", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			fill(b, newParser(), newTable())
		}
	})
	b.Run("recycled", func(b *testing.B) {
		b.ReportAllocs()
		p, t := newParser(), newTable()
		fill(b, p, t)
		for b.Loop() {
			t.reset()
			fill(b, p, t)
		}
	})
}

// BenchmarkLookup looks up random IPv4 addresses on all processors, with and
// without a writer that reloads all the time.
func BenchmarkLookup(b *testing.B) {
	paths := realTable(b, "POOLSWAP_ASN_DIR")
	for _, reloading := range []bool{false, true} {
		name := map[bool]string{false: "idle", true: "reloading"}[reloading]
		b.Run(name, func(b *testing.B) {
			s, _ := newTestService(10, paths...)
			load := func() { // as a Reloader would if the files were new each time
				_, err := s.tables.Publish(b.Context(), func(next, _ *table) error {
					return parseFiles(b.Context(), next, s.loader.parser, paths...)
				})
				if err != nil && !errors.Is(err, poolswap.ErrLimit) {
					b.Error(err)
				}
			}
			load()
			stop, stopped := make(chan struct{}), make(chan struct{})
			go func() {
				defer close(stopped)
				for reloading {
					select {
					case <-stop:
						return
					default:
						load()
					}
				}
			}()
			b.ResetTimer()
			b.RunParallel(func(pb *testing.PB) {
				random := rand.New(rand.NewPCG(1, 2))
				for pb.Next() {
					n := random.Uint32()
					t := s.tables.Acquire()
					t.lookup(netip.AddrFrom4([4]byte{byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)}))
					s.tables.Release(t)
				}
			})
			b.StopTimer()
			close(stop)
			<-stopped
		})
	}
}
