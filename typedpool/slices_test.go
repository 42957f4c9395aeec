package typedpool_test

import (
	"math"
	"runtime"
	"testing"
	"unsafe"
	"weak"

	"github.com/poolswap/poolswap/typedpool"
)

func TestSlices(t *testing.T) {
	t.Run("an array comes back under an empty slice", func(t *testing.T) {
		var p typedpool.Slices[int]
		eventually(t, "Get returns the array just put", func() bool {
			s := append(p.Get(10), 1, 2, 3)
			p.Put(s)
			r := p.Get(10)
			if len(r) != 0 || cap(r) < 10 {
				t.Errorf("Get(10) returned len %d, cap %d", len(r), cap(r))
			}
			return unsafe.SliceData(r) == unsafe.SliceData(s)
		})
	})
	t.Run("an array that is too small is replaced", func(t *testing.T) {
		var p typedpool.Slices[int]
		p.Put(make([]int, 4))
		if r := p.Get(5); len(r) != 0 || cap(r) < 5 {
			t.Errorf("Get(5) returned len %d, cap %d", len(r), cap(r))
		}
	})
	t.Run("elements with pointers are cleared up to the capacity", func(t *testing.T) {
		var p typedpool.Slices[record]
		eventually(t, "Get returns the array just put", func() bool {
			s := make([]record, 8)
			for i := range s {
				s[i] = record{id: i, name: "garbage", next: newRecord()}
			}
			p.Put(s[:0]) // as after a loop that reuses s
			r := p.Get(8)
			for i, e := range r[:cap(r)] {
				if e != (record{}) {
					t.Fatalf("element %d came back as %+v", i, e)
				}
			}
			return unsafe.SliceData(r) == unsafe.SliceData(s)
		})
	})
	t.Run("elements that are arrays of pointers are cleared, too", func(t *testing.T) {
		var p typedpool.Slices[[2]*record]
		eventually(t, "Get returns the array just put", func() bool {
			s := [][2]*record{{newRecord(), newRecord()}}
			p.Put(s)
			r := p.Get(1)
			if e := r[:1][0]; unsafe.SliceData(r) == unsafe.SliceData(s) && e != ([2]*record{}) {
				t.Fatalf("the element came back as %v", e)
			}
			return unsafe.SliceData(r) == unsafe.SliceData(s)
		})
	})
	t.Run("an array is not kept alive once it has been got", func(t *testing.T) {
		var p typedpool.Slices[record]
		eventually(t, "one collection frees the array", func() bool {
			s := make([]record, 8)
			gone := weak.Make(&s[0])
			p.Put(s)
			s = p.Get(8)
			runtime.KeepAlive(s)
			s = nil
			runtime.GC()
			return gone.Value() == nil
		})
	})
	t.Run("an array of the limit is kept, a larger one is not", func(t *testing.T) {
		p := typedpool.NewSlices[byte](100)
		eventually(t, "Get returns the array just put", func() bool {
			s := make([]byte, 100)
			p.Put(s)
			return unsafe.SliceData(p.Get(0)) == unsafe.SliceData(s)
		})
		for range 100 {
			p.Put(make([]byte, 3, 101))
			if r := p.Get(0); cap(r) > 100 {
				t.Fatalf("an array of %d elements came back", cap(r))
			}
		}
		if r := p.Get(200); cap(r) < 200 {
			t.Errorf("Get(200) returned cap %d", cap(r))
		}
	})
	t.Run("the zero Slices keeps 64 KiB", func(t *testing.T) {
		var p typedpool.Slices[int64]
		eventually(t, "Get returns the array just put", func() bool {
			s := make([]int64, 8<<10)
			p.Put(s)
			return unsafe.SliceData(p.Get(0)) == unsafe.SliceData(s)
		})
		for range 100 {
			p.Put(make([]int64, 8<<10+1))
			if r := p.Get(0); cap(r) > 8<<10 {
				t.Fatalf("an array of %d elements came back", cap(r))
			}
		}
	})
	t.Run("slices without memory are accepted and ignored", func(t *testing.T) {
		var p typedpool.Slices[int]
		p.Put(nil)
		p.Put([]int{})
		if r := p.Get(0); len(r) != 0 {
			t.Errorf("Get(0) = %v", r)
		}
		var q typedpool.Slices[struct{}]
		q.Put(make([]struct{}, math.MaxInt))
		if r := q.Get(3); len(r) != 0 || cap(r) < 3 {
			t.Errorf("Get(3) returned len %d, cap %d", len(r), cap(r))
		}
	})
	t.Run("wrong use panics", func(t *testing.T) {
		var p typedpool.Slices[int]
		mustPanic(t, func() { p.Get(-1) }, "typedpool: Get of a slice", "negative")
		mustPanic(t, func() { typedpool.NewSlices[int](0) }, "typedpool: NewSlices")
	})
}

func TestSlicesDoNotAllocate(t *testing.T) {
	t.Run("numbers", func(t *testing.T) {
		var p typedpool.Slices[int]
		if n := allocs(t, func() { p.Put(append(p.Get(100), 1)) }); n != 0 {
			t.Errorf("%v allocations per Get and Put, want 0", n)
		}
	})
	t.Run("structs with pointers", func(t *testing.T) {
		var p typedpool.Slices[record]
		if n := allocs(t, func() { p.Put(append(p.Get(100), record{id: 1})) }); n != 0 {
			t.Errorf("%v allocations per Get and Put, want 0", n)
		}
	})
	t.Run("several at once", func(t *testing.T) {
		var p typedpool.Slices[byte]
		if n := allocs(t, func() {
			a, b, c := p.Get(10), p.Get(10), p.Get(10)
			p.Put(a)
			p.Put(b)
			p.Put(c)
		}); n != 0 {
			t.Errorf("%v allocations, want 0", n)
		}
	})
}
