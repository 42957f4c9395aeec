package main

import (
	"bytes"
	"io"
	"sync"
	"time"

	"github.com/poolswap/poolswap/typedpool"
)

// wayNames are the ways in which each work is done, in the order of work.ways.
var wayNames = []string{"no pool", "sync.Pool", "typedpool"}

// work is a piece of work, done n times in each of the ways.
type work struct {
	name string
	ways [3]func(n int)
}

var works = []work{
	{"value", [3]func(int){valueNoPool, valueSyncPool, valueTypedPool}},
	{"data", [3]func(int){dataNoPool, dataSyncPool, dataTypedPool}},
	{"buffer", [3]func(int){bufferNoPool, bufferSyncPool, bufferTypedPool}},
	{"log-line", [3]func(int){lineNoPool, lineSyncPool, lineTypedPool}},
}

func workNames() (names []string) {
	for _, w := range works {
		names = append(names, w.name)
	}
	return names
}

// syncPool is a sync.Pool with types, as programs write it by hand.
type syncPool[T any] struct{ pool sync.Pool }

func newSyncPool[T any]() *syncPool[T] {
	return &syncPool[T]{sync.Pool{New: func() any { return new(T) }}}
}

func (p *syncPool[T]) Get() *T  { return p.pool.Get().(*T) }
func (p *syncPool[T]) Put(x *T) { p.pool.Put(x) }

// value is an object that does not outlive the iteration. The compiler keeps
// it on the stack, so there is nothing for a pool to save.
type value struct{ n int }

var (
	syncValues  = newSyncPool[value]()
	typedValues typedpool.Pool[value]
)

func valueNoPool(n int) {
	for range n {
		v := &value{42}
		_ = v
	}
}

func valueSyncPool(n int) {
	for range n {
		v := syncValues.Get()
		v.n = 42
		syncValues.Put(v)
	}
}

func valueTypedPool(n int) {
	for range n {
		v := typedValues.Get()
		v.n = 42
		typedValues.Put(v)
	}
}

// data is 8 KiB: 1024 integers of 8 bytes.
type data struct{ values [1024]int64 }

// kept makes each data outlive its iteration, so that it is on the heap.
var kept *data

var (
	syncData  = newSyncPool[data]()
	typedData typedpool.Pool[data]
)

func dataNoPool(n int) {
	for range n {
		kept = new(data)
		kept.values[0] = 42
	}
}

func dataSyncPool(n int) {
	for range n {
		kept = syncData.Get()
		kept.values[0] = 42
		syncData.Put(kept)
	}
}

func dataTypedPool(n int) {
	for range n {
		kept = typedData.Get()
		kept.values[0] = 42
		typedData.Put(kept)
	}
}

// out is where text goes. As an interface it makes the text escape, as a connection
// or a file does.
var out = io.Discard

var (
	syncBuffers  = newSyncPool[bytes.Buffer]()
	typedBuffers typedpool.Buffers
)

const greeting = "Hello, pooled world!"

func bufferNoPool(n int) {
	for range n {
		b := new(bytes.Buffer)
		b.WriteString(greeting)
		_, _ = out.Write(b.Bytes())
	}
}

func bufferSyncPool(n int) {
	for range n {
		b := syncBuffers.Get()
		b.Reset()
		b.WriteString(greeting)
		_, _ = out.Write(b.Bytes())
		syncBuffers.Put(b)
	}
}

func bufferTypedPool(n int) {
	for range n {
		b := typedBuffers.Get()
		b.WriteString(greeting)
		_, _ = out.Write(b.Bytes())
		typedBuffers.Put(b)
	}
}

const clock = "15:04:05"

// now is the time in each log line: writing it is measured, asking for it is
// not.
var now = time.Date(2024, 2, 29, 12, 34, 56, 0, time.UTC)

const pair = " path=/search?q=flowers\n"

func lineNoPool(n int) {
	for range n {
		var b bytes.Buffer
		b.WriteString(now.Format(clock))
		b.WriteString(pair)
		_, _ = out.Write(b.Bytes())
	}
}

// lineSyncPool keeps the buffer; the text that Format returns is new each time.
func lineSyncPool(n int) {
	for range n {
		b := syncBuffers.Get()
		b.Reset()
		b.WriteString(now.Format(clock))
		b.WriteString(pair)
		_, _ = out.Write(b.Bytes())
		syncBuffers.Put(b)
	}
}

// lineTypedPool writes the time into the free space of the buffer.
func lineTypedPool(n int) {
	for range n {
		b := typedBuffers.Get()
		b.Write(now.AppendFormat(b.AvailableBuffer(), clock))
		b.WriteString(pair)
		_, _ = out.Write(b.Bytes())
		typedBuffers.Put(b)
	}
}
