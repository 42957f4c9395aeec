package typedpool_test

import (
	"runtime"
	"testing"
	"unsafe"

	"github.com/poolswap/poolswap/typedpool"
)

// thing is the object of FuzzPool. An even id is worth keeping, an odd one makes
// Reset return false.
type thing struct {
	id, size int
	ref      *int
}

// FuzzPool replays a sequence of operations on a pool and on a model of it: the
// set of objects that the pool may hold. A sync.Pool forgets at will, so the
// model bounds the objects that Get may return.
func FuzzPool(f *testing.F) {
	f.Add([]byte{get, put, get, put})
	f.Add([]byte{get, get, get, put, put, putOdd, putLarge, putNil, get, get, get, get})
	f.Add([]byte{get, get, put, collect, get, put, collect, collect, get})
	f.Add([]byte{putForeign, putForeign, get, get, get})
	f.Fuzz(func(t *testing.T, operations []byte) {
		const maxSize = 10
		made := 0
		p := typedpool.NewWithOptions(
			func() *thing { made += 2; return &thing{id: made} },
			typedpool.Options[thing]{
				Reset:   func(x *thing) bool { x.size, x.ref = 0, nil; return x.id%2 == 0 },
				Size:    func(x *thing) int { return x.size },
				MaxSize: maxSize,
			})
		pooled := make(map[*thing]int) // the id of each object that Get may return
		var held []*thing
		for _, operation := range operations[:min(len(operations), 500)] {
			switch operation %= operationCount; operation {
			case get:
				before := made
				x := p.Get()
				id, recycled := pooled[x]
				delete(pooled, x)
				switch {
				case recycled && (made != before || x.id != id):
					t.Fatalf("object %d came out of the pool as %+v, and %d were made", id, *x, (made-before)/2)
				case !recycled && (made != before+2 || x.id != made):
					t.Fatalf("Get returned %+v, neither pooled nor new", *x)
				case x.size != 0 || x.ref != nil:
					t.Fatalf("Get returned %+v, not reset", *x)
				}
				x.size, x.ref = maxSize, new(int)
				held = append(held, x)
			case putNil:
				p.Put(nil)
			case collect:
				runtime.GC()
			case putForeign:
				made += 2
				x := &thing{id: made, size: 3}
				pooled[x] = x.id
				p.Put(x)
			default:
				if len(held) == 0 {
					continue
				}
				x := held[0]
				held = held[1:]
				switch operation {
				case putOdd:
					x.id++
				case putLarge:
					x.size = maxSize + 1
				case put:
					pooled[x] = x.id
				}
				p.Put(x)
			}
		}
	})
}

const (
	get = iota
	put
	putNil
	putOdd
	putLarge
	putForeign
	collect
	operationCount
)

// FuzzSlices replays pairs of bytes, an operation and a capacity: every slice
// that Get returns is as large as asked for, is shared with no slice in use, and
// holds nothing.
func FuzzSlices(f *testing.F) {
	f.Add([]byte{get, 3, put, 0, get, 3})
	f.Add([]byte{get, 10, get, 20, get, 0, put, 0, put, 0, get, 15, get, 5})
	f.Add([]byte{get, 255, put, 0, get, 255, putNil, 0, get, 0, putForeign, 100, get, 101})
	f.Fuzz(func(t *testing.T, operations []byte) {
		const maxCap = 100
		p := typedpool.NewSlices[*int](maxCap)
		var held [][]*int
		for ; len(operations) >= 2; operations = operations[2:] {
			n := int(operations[1])
			switch operations[0] % operationCount {
			case get:
				s := p.Get(n)
				if len(s) != 0 || cap(s) < n || cap(s) > max(n, maxCap) {
					t.Fatalf("Get(%d) returned len %d, cap %d", n, len(s), cap(s))
				}
				for _, h := range held {
					if cap(s) > 0 && unsafe.SliceData(h) == unsafe.SliceData(s) {
						t.Fatal("Get returned an array that is in use")
					}
				}
				s = s[:cap(s)]
				for i := range s {
					if s[i] != nil {
						t.Fatalf("Get(%d) returned an array with a pointer at %d of %d", n, i, cap(s))
					}
					s[i] = new(int)
				}
				if cap(s) > 0 {
					held = append(held, s)
				}
			case put, putOdd, putLarge:
				if len(held) > 0 {
					p.Put(held[0][:min(n, cap(held[0]))])
					held = held[1:]
				}
			case putNil:
				p.Put(nil)
			case putForeign:
				p.Put(make([]*int, n))
			case collect:
				if n == 0 {
					runtime.GC()
				}
			}
		}
	})
}
