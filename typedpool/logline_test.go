package typedpool_test

import (
	"bytes"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/poolswap/poolswap/typedpool"
)

// The same log line four times: the time of day, a key and a value.

const clock = "15:04:05"

// logNoPool allocates the bytes of the buffer and the text of the time.
func logNoPool(w io.Writer, t time.Time, key, value string) {
	var b bytes.Buffer
	b.WriteString(t.Format(clock))
	writePair(&b, key, value)
	w.Write(b.Bytes())
}

var barePool = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// logBarePool allocates the text of the time.
func logBarePool(w io.Writer, t time.Time, key, value string) {
	b := barePool.Get().(*bytes.Buffer)
	b.Reset()
	b.WriteString(t.Format(clock))
	writePair(b, key, value)
	w.Write(b.Bytes())
	barePool.Put(b)
}

var typedPool = typedpool.New(func() *bytes.Buffer { return new(bytes.Buffer) })

// logTypedPool allocates the text of the time.
func logTypedPool(w io.Writer, t time.Time, key, value string) {
	b := typedPool.Get()
	b.Reset()
	b.WriteString(t.Format(clock))
	writePair(b, key, value)
	w.Write(b.Bytes())
	typedPool.Put(b)
}

var lines typedpool.Buffers

// logLine allocates nothing: the time is written where the buffer has room.
func logLine(w io.Writer, t time.Time, key, value string) {
	b := lines.Get()
	b.Write(t.AppendFormat(b.AvailableBuffer(), clock))
	writePair(b, key, value)
	w.Write(b.Bytes())
	lines.Put(b)
}

func writePair(b *bytes.Buffer, key, value string) {
	b.WriteByte(' ')
	b.WriteString(key)
	b.WriteByte('=')
	b.WriteString(value)
	b.WriteByte('\n')
}

var logs = []struct {
	name   string
	log    func(w io.Writer, t time.Time, key, value string)
	allocs float64
}{
	{"no pool", logNoPool, 2},
	{"bare pool", logBarePool, 1},
	{"typed pool", logTypedPool, 1},
	{"ours", logLine, 0},
}

func TestLogLinesAreAlike(t *testing.T) {
	at := time.Date(2024, 2, 29, 12, 34, 56, 0, time.UTC)
	for _, l := range logs {
		var out strings.Builder
		for range 3 {
			l.log(&out, at, "path", "/search?q=flowers")
		}
		if want := strings.Repeat("12:34:56 path=/search?q=flowers\n", 3); out.String() != want {
			t.Errorf("%s wrote %q, want %q", l.name, out.String(), want)
		}
	}
}

func TestLogLineAllocations(t *testing.T) {
	at := time.Date(2024, 2, 29, 12, 34, 56, 0, time.UTC)
	for _, l := range logs {
		t.Run(l.name, func(t *testing.T) {
			if n := allocs(t, func() { l.log(io.Discard, at, "path", "/search?q=flowers") }); n != l.allocs {
				t.Errorf("%v allocations per line, want %v", n, l.allocs)
			}
		})
	}
}
