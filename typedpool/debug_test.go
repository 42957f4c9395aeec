//go:build poolswapdebug

package typedpool_test

import (
	"bytes"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"unsafe"
	"weak"

	"github.com/poolswap/poolswap/typedpool"
)

func TestSecondPutPanicsWithBothCallSites(t *testing.T) {
	t.Run("of an object", func(t *testing.T) {
		p := typedpool.New(newRecord)
		x := p.Get()
		first, again := typedpool.Here(1), typedpool.Here(2)
		p.Put(x)
		mustPanic(t, func() { p.Put(x) },
			"typedpool: Put of a *typedpool_test.record twice", "first at "+first, "again at "+again)
	})
	t.Run("of a buffer", func(t *testing.T) {
		var p typedpool.Buffers
		b := p.Get()
		first, again := typedpool.Here(1), typedpool.Here(2)
		p.Put(b)
		mustPanic(t, func() { p.Put(b) },
			"typedpool: Put of a *bytes.Buffer twice", "first at "+first, "again at "+again)
	})
	t.Run("of a slice, even cut at the front", func(t *testing.T) {
		var p typedpool.Slices[int]
		s := p.Get(10)[:10]
		first, again := typedpool.Here(1), typedpool.Here(2)
		p.Put(s)
		mustPanic(t, func() { p.Put(s[2:5]) },
			"typedpool: Put of a []int twice", "first at "+first, "again at "+again)
	})
	t.Run("into another pool", func(t *testing.T) {
		p, q := typedpool.New(newRecord), typedpool.New(newRecord)
		x := p.Get()
		p.Put(x)
		mustPanic(t, func() { q.Put(x) }, "twice")
	})
	t.Run("of an object that Put dropped", func(t *testing.T) {
		p := typedpool.NewWithOptions(newRecord, typedpool.Options[record]{Reset: func(*record) bool { return false }})
		x := p.Get()
		p.Put(x)
		mustPanic(t, func() { p.Put(x) }, "twice")
	})
	t.Run("of a buffer and a slice that are over the limit", func(t *testing.T) {
		p, b := typedpool.NewBuffers(1), bytes.NewBufferString("large")
		p.Put(b)
		mustPanic(t, func() { p.Put(b) }, "Put of a *bytes.Buffer twice")
		q, s := typedpool.NewSlices[int](1), make([]int, 2)
		q.Put(s)
		mustPanic(t, func() { q.Put(s) }, "Put of a []int twice")
	})
	t.Run("deferred, when a panic unwinds", func(t *testing.T) {
		p := typedpool.New(newRecord)
		x := p.Get()
		first := typedpool.Here(4)
		func() {
			defer func() { _ = recover() }()
			defer p.Put(x)
			panic("unwind")
		}()
		mustPanic(t, func() { p.Put(x) }, "first at "+first)
	})
	t.Run("from two goroutines at once, in one of them", func(t *testing.T) {
		p := typedpool.New(newRecord)
		for range 100 {
			x := newRecord()
			var panics atomic.Int32
			var wg sync.WaitGroup
			for range 2 {
				wg.Go(func() {
					defer func() {
						if recover() != nil {
							panics.Add(1)
						}
					}()
					p.Put(x)
				})
			}
			wg.Wait()
			if n := panics.Load(); n != 1 {
				t.Fatalf("%d of two Puts panicked", n)
			}
		}
	})
}

func TestRightfulPutsDoNotPanic(t *testing.T) {
	t.Run("of an object got again", func(t *testing.T) {
		p := typedpool.New(newRecord)
		for range 1000 {
			p.Put(p.Get())
		}
	})
	t.Run("of objects without size, which share an address", func(t *testing.T) {
		var p typedpool.Pool[struct{}]
		for range 10 {
			p.Put(new(struct{}))
		}
	})
	t.Run("of a new object where a forgotten one was", func(t *testing.T) {
		var p typedpool.Pool[[512]byte]
		seen := make(map[uintptr]bool)
		for range 20 {
			reused := false
			for range 200 {
				x := new([512]byte)
				at := uintptr(unsafe.Pointer(x))
				reused = reused || seen[at]
				seen[at] = true
				p.Put(x)
			}
			runtime.GC()
			runtime.GC()
			if reused {
				return
			}
		}
		t.Error("the collector never used an address again: the test has tested nothing")
	})
}

func TestPutScribbles(t *testing.T) {
	t.Run("a pattern over numbers", func(t *testing.T) {
		var p typedpool.Pool[[4]uint16]
		x := &[4]uint16{1, 2, 3, 4}
		p.Put(x)
		if *x != [4]uint16{0xdbdb, 0xdbdb, 0xdbdb, 0xdbdb} {
			t.Errorf("after Put, %#x", *x)
		}
	})
	t.Run("zero over pointers", func(t *testing.T) {
		p := typedpool.New(newRecord)
		x := &record{id: 7, name: "seven", next: newRecord()}
		p.Put(x)
		if *x != (record{}) {
			t.Errorf("after Put, %+v", *x)
		}
	})
	t.Run("zero over bools", func(t *testing.T) {
		type flags struct {
			on bool
			n  int
		}
		var p typedpool.Pool[flags]
		x := &flags{true, 1}
		p.Put(x)
		if *x != (flags{}) {
			t.Errorf("after Put, %+v", *x)
		}
	})
	t.Run("nothing over locks", func(t *testing.T) {
		type shared struct {
			mu sync.Mutex
			n  atomic.Int64
			id int
		}
		var p typedpool.Pool[shared]
		x := &shared{id: 7}
		x.mu.Lock()
		x.n.Store(8)
		p.Put(x)
		if x.id != 7 || x.n.Load() != 8 || x.mu.TryLock() {
			t.Error("Put has changed an object that go vet forbids to copy")
		}
	})
	t.Run("a pattern over the bytes of a buffer", func(t *testing.T) {
		var p typedpool.Buffers
		b := p.Get()
		b.WriteString("secret")
		kept := b.Bytes()
		p.Put(b)
		if want := bytes.Repeat([]byte{0xdb}, 6); !bytes.Equal(kept, want) {
			t.Errorf("after Put, the bytes are %q", kept)
		}
	})
	t.Run("a pattern over a slice up to its capacity", func(t *testing.T) {
		var p typedpool.Slices[int32]
		s := make([]int32, 3, 10)
		p.Put(s)
		for i, e := range s[:cap(s)] {
			if uint32(e) != 0xdbdbdbdb {
				t.Errorf("after Put, element %d is %#x", i, e)
			}
		}
	})
}

func TestGetRestoresScribbledObject(t *testing.T) {
	type tables struct {
		byName map[string]int
		count  int
	}
	p := typedpool.New(func() *tables { return &tables{byName: make(map[string]int)} })
	eventually(t, "Get returns the object just put", func() bool {
		x := p.Get()
		x.byName["a"], x.count = 1, 1
		p.Put(x)
		runtime.GC() // must not take memory that only the parked object refers to
		y := p.Get()
		if y == x && (y.byName["a"] != 1 || y.count != 1) {
			t.Fatalf("came back as %+v", *y)
		}
		return y == x
	})
}

func TestGetFindsUseAfterPut(t *testing.T) {
	t.Run("a number", func(t *testing.T) {
		usedAfterPut(t, new(typedpool.Pool[[4]int]), func(x *[4]int) { x[3] = 1 })
	})
	t.Run("a struct with pointers", func(t *testing.T) {
		usedAfterPut(t, typedpool.New(newRecord), func(x *record) { x.name = "late" })
	})
	t.Run("a buffer written to", func(t *testing.T) {
		usedAfterPut(t, new(typedpool.Buffers), func(b *bytes.Buffer) { b.WriteString("late") })
	})
	t.Run("the bytes of a buffer", func(t *testing.T) {
		var kept []byte
		p := typedpool.NewWithOptions(func() *bytes.Buffer { return bytes.NewBufferString("abc") },
			typedpool.Options[bytes.Buffer]{Reset: func(b *bytes.Buffer) bool { kept = b.Bytes(); b.Reset(); return true }})
		usedAfterPut(t, p, func(*bytes.Buffer) { kept[0] = 'x' })
	})
	t.Run("the array of a slice", func(t *testing.T) {
		var p typedpool.Slices[byte]
		panicsOnce(t, func() string {
			s := p.Get(8)[:8]
			at := typedpool.Here(1)
			p.Put(s)
			s[7] = 1
			return at
		}, func() { p.Get(8) })
	})
	t.Run("the array of a slice with pointers", func(t *testing.T) {
		var p typedpool.Slices[*int]
		panicsOnce(t, func() string {
			s := p.Get(8)[:8]
			at := typedpool.Here(1)
			p.Put(s)
			s[0] = new(int)
			return at
		}, func() { p.Get(8) })
	})
}

func usedAfterPut[T any](t *testing.T, p interface {
	Get() *T
	Put(*T)
}, use func(*T),
) {
	t.Helper()
	panicsOnce(t, func() string {
		x := p.Get()
		at := typedpool.Here(1)
		p.Put(x)
		use(x)
		return at
	}, func() { p.Get() })
}

// panicsOnce runs misuse and get until get meets the object of misuse.
func panicsOnce(t *testing.T, misuse func() (at string), get func()) {
	t.Helper()
	eventually(t, "a Get panics", func() (panicked bool) {
		at := misuse()
		defer func() {
			r := recover()
			if r == nil {
				return
			}
			panicked = true
			text, _ := r.(string)
			if !strings.HasPrefix(text, "typedpool: Get of a ") || !strings.Contains(text, "after its Put at "+at) {
				t.Errorf("panic %q does not name the Put at %s", r, at)
			}
		}()
		get()
		return false
	})
}

func TestClaimsDoNotKeepObjectsAlive(t *testing.T) {
	var p typedpool.Pool[[1 << 10]byte]
	const rounds, objects = 40, 1000
	for range rounds {
		for range objects {
			p.Put(new([1 << 10]byte))
		}
		runtime.GC()
		runtime.GC()
		if n := typedpool.Claims(); n > 2*(2*objects+typedpool.MinSweep) {
			t.Fatalf("%d claims for at most %d objects alive", n, 2*objects)
		}
	}
	x := new([1 << 10]byte)
	gone := weak.Make(x)
	p.Put(x)
	x = nil
	for range 10 {
		runtime.GC()
		if gone.Value() == nil {
			return
		}
	}
	t.Error("an object that was put is never collected")
}
