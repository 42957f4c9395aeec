package slab_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"unsafe"
	"weak"

	"github.com/poolswap/poolswap/slab"
)

// allocated returns the bytes that f allocates.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// numbered returns n keys.
func numbered(n int) []string {
	keys := make([]string, n)
	for i := range keys {
		keys[i] = fmt.Sprint(i)
	}
	return keys
}

// wantNone fails the test if a life allocated. A debug build takes the memory of each
// life from the system.
func wantNone(t *testing.T, life string, bytes uint64) {
	t.Helper()
	if bytes > 10_000 && !debugging { // the runtime may allocate beside
		t.Errorf("%s allocated %d bytes", life, bytes)
	}
}

func TestCopyOfASmallMapLosesNoMemory(t *testing.T) {
	keys := numbered(100_000)
	var m, small, empty slab.Strings
	small.Set("a", "b")
	load := func() {
		for _, key := range keys {
			m.Set(key, "value")
		}
		m.Reset()
	}
	load()
	for _, from := range []*slab.Strings{&small, &empty} {
		m.CopyFrom(from)
		m.Reset()
		wantNone(t, "a life after that of a small copy", allocated(load))
	}
}

func TestCopiesOfASmallMapGiveUpMemory(t *testing.T) {
	var m, small slab.Strings
	small.Set("a", "b")
	for _, key := range numbered(100_000) {
		m.Set(key, "value")
	}
	for range 40 {
		m.Reset()
		m.CopyFrom(&small)
	}
	if text, slots := m.Held(); text+slots > 10_000 {
		t.Errorf("after lives of one entry it holds %d bytes of text and %d of slots", text, slots)
	}
}

// TestMemoryOfALargeLifeIsKept for 15 lives, of which others are small, empty, or copies.
func TestMemoryOfALargeLifeIsKept(t *testing.T) {
	keys := numbered(5000)
	var small slab.Strings
	small.Set("a", "b")
	for name, life := range map[string]func(m *slab.Strings){
		"a small load": func(m *slab.Strings) { m.Set("a", "b") },
		"a copy":       func(m *slab.Strings) { m.CopyFrom(&small) },
	} {
		for rounds := 1; rounds <= 5; rounds += 4 { // once, or overwriting
			var m slab.Strings
			large := func() {
				for round := range rounds {
					for _, key := range keys {
						m.Set(key, "0123456789012345678901234567890123456789"[round:])
					}
				}
				m.Reset()
			}
			large()
			large()
			for range 20 {
				for range 14 {
					life(&m)
					m.Reset()
				}
				wantNone(t, fmt.Sprint("a large life of ", rounds, " rounds after 14 of ", name), allocated(large))
			}
		}
	}
}

// TestWarmLifeAllocatesNothing, nor do the lives in which memory could be given up.
func TestWarmLifeAllocatesNothing(t *testing.T) {
	keys, long := numbered(10_000), strings.Repeat("x", 1<<20)
	var (
		deleted, churned, shrunk, copied, grown slab.Strings

		b slab.Bytes
	)
	shrunk.Grow(len(keys))
	shrunk.Set("key", "value")
	for name, life := range map[string]func(){
		"that deletes all": func() {
			for _, key := range keys {
				deleted.Set(key, key)
			}
			for _, key := range keys {
				deleted.Delete(key)
			}
			deleted.Reset()
		},
		"that deletes some and sets them again": func() {
			for range 3 {
				for _, key := range keys {
					churned.Set(key, long[:50])
				}
				for _, key := range keys[:len(keys)/2] {
					churned.Delete(key)
				}
			}
			churned.Reset()
		},
		"that copies a map with many free slots": func() {
			copied.CopyFrom(&shrunk)
			copied.Reset()
		},
		"that asks for many slots": func() {
			grown.Grow(len(keys))
			grown.Set("key", "value")
			grown.Reset()
		},
		"of long strings and short": func() {
			b.Clone("short")
			b.Clone(long)
			b.Clone("short")
			b.Reset()
		},
	} {
		life()
		life()
		for range 40 {
			wantNone(t, "a life "+name, allocated(life))
		}
	}
}

// TestLifeAfterALargeOneAllocatesNothing: what is left once memory is given up suffices.
func TestLifeAfterALargeOneAllocatesNothing(t *testing.T) {
	keys, long := numbered(1000), strings.Repeat("x", 5<<20)
	var m slab.Strings
	var b slab.Bytes
	m.Grow(len(keys))
	m.Set("key", long)
	b.Clone("short")
	b.Clone(long[:1<<20])
	b.Clone(long)
	for range 40 {
		m.Reset()
		b.Reset()
		wantNone(t, "a life after a large one", allocated(func() {
			m.Grow(len(keys))
			for _, key := range keys {
				m.Set(key, long[:100])
			}
			b.Clone("short")
			b.Clone(long[:1<<20])
		}))
	}
}

func TestLifeThatOverwritesAllocatesNothing(t *testing.T) {
	keys, values := numbered(1000), numbered(50)
	var m slab.Strings
	life := func() {
		for _, value := range values {
			for _, key := range keys {
				m.Set(key, value)
			}
		}
		m.Reset()
	}
	for range 3 {
		life()
	}
	for range 40 {
		wantNone(t, "a life that overwrites", allocated(life))
	}
	both, _ := m.Held()
	for range 60 { // now nothing is overwritten
		for _, key := range keys {
			m.Set(key, "12345678")
		}
		m.Reset()
	}
	if text, _ := m.Held(); text != both/2 {
		t.Errorf("it holds %d bytes of text, and held %d with those for compactions", text, both)
	}
}

func TestBytesGivesUpChunks(t *testing.T) {
	for name, long := range map[string][]int{"one long": {64 << 20}, "many": {1 << 20, 1 << 20, 1 << 20, 1 << 20, 1 << 20, 1 << 20}} {
		var b slab.Bytes
		for _, n := range long {
			b.Clone(strings.Repeat("x", n))
		}
		for range 40 {
			b.Reset()
			b.Clone("short")
		}
		if held := b.Held(); held > 2<<20 {
			t.Errorf("%s: after lives of a short string it holds %d bytes", name, held)
		}
	}
}

// TestBytesThatAreGivenUpAreFree: the slice of chunks does not keep them.
func TestBytesThatAreGivenUpAreFree(t *testing.T) {
	if debugging {
		t.Skip("its chunks are not of the heap")
	}
	var b slab.Bytes
	b.Clone("short")
	long := b.Clone(strings.Repeat("x", 2<<20))
	p := weak.Make(unsafe.StringData(long))
	long = ""
	for range 40 {
		b.Reset()
		b.Clone("short")
	}
	for range 3 {
		runtime.GC()
	}
	if p.Value() != nil {
		t.Error("a chunk that was given up is reachable")
	}
	runtime.KeepAlive(&b)
}

func TestSetAllKeepsNoValueAlive(t *testing.T) {
	var m slab.Map[*[64]byte]
	value := new([64]byte)
	p := weak.Make(value)
	m.SetAll(func(yield func(string, *[64]byte) bool) { yield("key", value) })
	value = nil
	m.Reset()
	for range 3 {
		runtime.GC()
	}
	if p.Value() != nil {
		t.Error("a value of an ended life is reachable")
	}
	runtime.KeepAlive(&m)
}
