package suites

import (
	"runtime"
	"sync"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/bench/internal/oldpool"
	"github.com/poolswap/poolswap/bench/internal/runner"
	"github.com/poolswap/poolswap/typedpool"
)

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

	// collections, if not nil, counts the collections that the pool has noticed: that
	// of Go 1.12 learns of one a moment after it.
	collections func() int64
}

// smallPools are the pools by the names of their rivals.
var smallPools = map[string]func() smallPool{
	"NoPool": func() smallPool { return smallPool{newSmallObject, func(*smallObject) {}, nil} },
	"sync.Pool": func() smallPool {
		p := &sync.Pool{New: func() any { return newSmallObject() }}
		return smallPool{func() *smallObject { return p.Get().(*smallObject) }, func(s *smallObject) { p.Put(s) }, nil}
	},
	"Go1.12": func() smallPool {
		p := oldpool.NewLocked(newSmallObject)
		return smallPool{p.Get, p.Put, p.Collections}
	},
	"typedpool": func() smallPool {
		p := typedpool.New(newSmallObject)
		return smallPool{p.Get, p.Put, nil}
	},
	"poolswap": func() smallPool {
		p := poolswap.NewPool(newSmallObject, func(*smallObject) bool { return true })
		return smallPool{p.Get, p.Release, nil}
	},
}

func smallRivals(objects int, collect bool, noPool, syncPool map[string]float64) []runner.Rival {
	all := each([]string{"NoPool", "sync.Pool", "Go1.12", "typedpool", "poolswap"}, func(config runner.Config, rival string) (runner.Sample, error) {
		return sampleSmall(config, smallPools[rival](), config.Size(objects), collect), nil
	})
	all[0].Published, all[1].Published = noPool, syncPool
	return all
}

func sampleSmall(config runner.Config, p smallPool, objects int, collect bool) runner.Sample {
	return runner.Blocks(config.Time, 1, func() {
		for range objects {
			s := p.get()
			use(s)
			KeptSmall = s
			p.put(s)
			if collect {
				p.collect()
			}
		}
	})
}

// collect forces a collection, and waits until the pool has noticed it.
func (p *smallPool) collect() {
	if p.collections == nil {
		runtime.GC()
		return
	}
	seen := p.collections()
	runtime.GC()
	for p.collections() == seen {
		runtime.Gosched()
	}
}
