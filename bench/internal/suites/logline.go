package suites

import (
	"bytes"
	"io"
	"sync"
	"time"

	"github.com/poolswap/poolswap/typedpool"
)

// lineTime is the time in each log line: formatting it is measured, asking the
// clock is not.
var lineTime = time.Date(2024, 2, 29, 12, 34, 56, 0, time.UTC)

// lineOut is where log lines go; an interface, as in a logger.
var lineOut = io.Discard

func writePair(b *bytes.Buffer) {
	b.WriteString(" path=/search?q=flowers\n")
}

func logNoPool(n int) {
	for range n {
		var b bytes.Buffer
		b.WriteString(lineTime.Format(time.RFC3339))
		writePair(&b)
		_, _ = lineOut.Write(b.Bytes())
	}
}

// wrapper is the typed sync.Pool that programs write by hand.
type wrapper[T any] struct{ pool sync.Pool }

func (w *wrapper[T]) Get() T  { return w.pool.Get().(T) }
func (w *wrapper[T]) Put(x T) { w.pool.Put(x) }

var wrapped = wrapper[*bytes.Buffer]{sync.Pool{New: func() any { return new(bytes.Buffer) }}}

func logWrapper(n int) {
	for range n {
		b := wrapped.Get()
		b.Reset()
		b.WriteString(lineTime.Format(time.RFC3339))
		writePair(b)
		_, _ = lineOut.Write(b.Bytes())
		wrapped.Put(b)
	}
}

var lineBuffers typedpool.Buffers

// logTypedpool writes the time into the free space of the buffer.
func logTypedpool(n int) {
	for range n {
		b := lineBuffers.Get()
		b.Write(lineTime.AppendFormat(b.AvailableBuffer(), time.RFC3339))
		writePair(b)
		_, _ = lineOut.Write(b.Bytes())
		lineBuffers.Put(b)
	}
}
