package suites

import (
	"runtime"
	"sync"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/bench/internal/measure"
	"github.com/poolswap/poolswap/bench/internal/oldpool"
	"github.com/poolswap/poolswap/typedpool"
)

// struct8k is a struct of 8 KiB.
type struct8k struct{ values [1024]int64 }

// kept makes an object escape to the heap.
var kept *struct8k

func structNoPool(n int) {
	for range n {
		kept = new(struct8k)
		kept.values[0] = 42
	}
}

var structSync = sync.Pool{New: func() any { return new(struct8k) }}

func structSyncPool(n int) {
	for range n {
		s := structSync.Get().(*struct8k)
		s.values[0] = 42
		kept = s
		structSync.Put(s)
	}
}

var structTyped typedpool.Pool[struct8k]

func structTypedpool(n int) {
	for range n {
		s := structTyped.Get()
		s.values[0] = 42
		kept = s
		structTyped.Put(s)
	}
}

// smallObject is the object of the small cases. The Ref is for poolswap's pool;
// it is there for all rivals, so that all objects have one size.
type smallObject struct {
	poolswap.Ref
	n int
}

func newSmallObject() *smallObject { return &smallObject{n: 1} }

//go:noinline
func use(s *smallObject) { s.n++ }

// KeptSmall makes an object escape to the heap.
var KeptSmall *smallObject

// smallPool is a pool that a small case uses, or none.
type smallPool struct {
	get func() *smallObject
	put func(*smallObject)

	// settle, if not nil, waits until the pool has noticed the collection.
	settle func()
}

func smallRivals(objects int, collect bool) []measure.Rival {
	var rivals []measure.Rival
	for _, r := range []struct {
		name               string
		make               func() smallPool
		published, collect map[string]float64
	}{
		{"NoPool", noSmallPool, map[string]float64{"ns/op": 3.02e6, "B/op": 160e3}, map[string]float64{"ns/op": 993e6}},
		{"sync.Pool", syncSmallPool, map[string]float64{"ns/op": 1.36e6, "B/op": 1.05e3}, map[string]float64{"ns/op": 1.03e9}},
		{"Go1.12", lockedSmallPool, nil, nil},
		{"Go1.13", chainedSmallPool, nil, nil},
		{"typedpool", typedSmallPool, nil, nil},
		{"poolswap", swapSmallPool, nil, nil},
	} {
		rival := measure.Rival{Name: r.name, Published: r.published, Sample: func(config measure.Config) (measure.Sample, error) {
			return sampleSmall(config, r.make(), config.Size(objects), collect), nil
		}}
		if collect {
			rival.Published = r.collect // of 10,000 objects: only the ratio compares
		}
		rivals = append(rivals, rival)
	}
	return rivals
}

func sampleSmall(config measure.Config, p smallPool, objects int, collect bool) measure.Sample {
	work := func(w *measure.Stopwatch) (operations int) {
		for w.Running() {
			for range objects {
				s := p.get()
				use(s)
				KeptSmall = s
				p.put(s)
				if collect {
					runtime.GC()
					if p.settle != nil {
						p.settle()
					}
				}
			}
			operations++
		}
		return operations
	}
	measure.Serial(config.Time/4, work)
	return measure.Serial(config.Time, work)
}

func noSmallPool() smallPool { return smallPool{get: newSmallObject, put: func(*smallObject) {}} }

func syncSmallPool() smallPool {
	p := &sync.Pool{New: func() any { return newSmallObject() }}
	return smallPool{get: func() *smallObject { return p.Get().(*smallObject) }, put: func(s *smallObject) { p.Put(s) }}
}

func lockedSmallPool() smallPool {
	p := oldpool.NewLocked(newSmallObject)
	return smallPool{p.Get, p.Put, settle(p.Collections)}
}

func chainedSmallPool() smallPool {
	p := oldpool.NewChained(newSmallObject)
	return smallPool{p.Get, p.Put, settle(p.Collections)}
}

func typedSmallPool() smallPool {
	p := typedpool.New(newSmallObject)
	return smallPool{get: p.Get, put: p.Put}
}

func swapSmallPool() smallPool {
	p := poolswap.NewPool(newSmallObject, func(*smallObject) bool { return true })
	return smallPool{get: p.Get, put: p.Release}
}

// settle waits for the next change of a count of collections: the stand-ins
// for sync.Pool learn of a collection a moment after it.
func settle(collections func() int64) func() {
	seen := collections()
	return func() {
		for collections() == seen {
			runtime.Gosched()
		}
		seen = collections()
	}
}
