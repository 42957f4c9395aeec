package oplog_test

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/oplog"
	"github.com/poolswap/poolswap/oplog/oplogtest"
)

// slabSize is how many entries a slab has room for. Insertion moves half a slab
// on average, and a lookup searches the list of slabs first.
const slabSize = 256

// Quote is an entry of a PriceTable.
type Quote struct {
	Time  int64
	Price int
}

// PriceTable is sorted by time. It is cut into slabs, so that a change moves the
// entries of one slab and not those of the table.
//
// Apply changes a slab in place: the object is the writer's alone until it is
// published. So by the second rule Copy copies every slab. Apply could also
// replace the slab by a changed copy. Objects could then share slabs, and Copy
// would copy the list of them alone, but every operation would make two slabs
// garbage.
type PriceTable struct {
	poolswap.Ref
	slabs [][]Quote // none is empty; each is sorted, and all of them are
}

// PriceChange is an operation on a PriceTable. A Price of 0 deletes the quote.
type PriceChange Quote

func (t *PriceTable) apply(op PriceChange) error {
	s, i, found := t.find(op.Time)
	switch {
	case found && op.Price != 0:
		t.slabs[s][i].Price = op.Price
	case found:
		t.slabs[s] = slices.Delete(t.slabs[s], i, i+1)
		if len(t.slabs[s]) == 0 {
			t.slabs = slices.Delete(t.slabs, s, s+1)
		}
	case op.Price != 0:
		t.insert(s, i, Quote(op))
	}
	return nil
}

// insert puts quote at place i of slab s, where find says that it belongs.
func (t *PriceTable) insert(s, i int, quote Quote) {
	if s == len(t.slabs) { // later than all others
		if s == 0 || len(t.slabs[s-1]) == slabSize {
			t.slabs = append(t.slabs, append(make([]Quote, 0, slabSize), quote))
			return
		}
		s, i = s-1, len(t.slabs[s-1])
	}
	if len(t.slabs[s]) == slabSize { // the upper half moves to a slab of its own
		const half = slabSize / 2
		upper := append(make([]Quote, 0, slabSize), t.slabs[s][half:]...)
		t.slabs[s] = t.slabs[s][:half]
		t.slabs = slices.Insert(t.slabs, s+1, upper)
		if i > half {
			s, i = s+1, i-half
		}
	}
	t.slabs[s] = slices.Insert(t.slabs[s], i, quote)
}

// find returns the first place with a quote of this time or a later one.
func (t *PriceTable) find(time int64) (slab, i int, found bool) {
	slab, _ = slices.BinarySearchFunc(t.slabs, time, func(s []Quote, time int64) int {
		return cmp.Compare(s[len(s)-1].Time, time)
	})
	if slab == len(t.slabs) {
		return slab, 0, false
	}
	i, found = slices.BinarySearchFunc(t.slabs[slab], time, func(q Quote, time int64) int {
		return cmp.Compare(q.Time, time)
	})
	return slab, i, found
}

// copyFrom makes t a copy of src, in the slabs that t has.
func (t *PriceTable) copyFrom(src *PriceTable) error {
	for len(t.slabs) < len(src.slabs) {
		t.slabs = append(t.slabs, make([]Quote, 0, slabSize))
	}
	t.slabs = slices.Delete(t.slabs, len(src.slabs), len(t.slabs))
	for s, slab := range src.slabs {
		t.slabs[s] = append(t.slabs[s][:0], slab...)
	}
	return nil
}

// between yields the quotes from the time from on and before the time to.
func (t *PriceTable) between(from, to int64) iter.Seq[Quote] {
	return func(yield func(Quote) bool) {
		for slab, i, _ := t.find(from); slab < len(t.slabs); slab, i = slab+1, 0 {
			for _, quote := range t.slabs[slab][i:] {
				if quote.Time >= to || !yield(quote) {
					return
				}
			}
		}
	}
}

func (t *PriceTable) all() []Quote { return slices.Concat(t.slabs...) }

func pricesOptions() oplog.Options[PriceTable, PriceChange] {
	return oplog.Options[PriceTable, PriceChange]{
		New:   func() *PriceTable { return new(PriceTable) },
		Apply: (*PriceTable).apply,
		Copy:  (*PriceTable).copyFrom,
		Reset: func(t *PriceTable) { t.slabs = slices.Delete(t.slabs, 0, len(t.slabs)) },
	}
}

func equalPrices(a, b *PriceTable) bool { return slices.Equal(a.all(), b.all()) }

// A sorted table takes a batch of changes while readers look up ranges.
func Example_slabs() {
	ctx := context.Background()
	prices, err := oplog.New(pricesOptions())
	if err != nil {
		fmt.Println(err)
		return
	}
	for second := range int64(1000) {
		_, _ = prices.Publish(ctx, PriceChange{Time: 60 * second, Price: 100})
	}
	_, err = prices.Publish(ctx,
		PriceChange{Time: 30_030, Price: 105}, // between two others
		PriceChange{Time: 30_060},             // deleted
		PriceChange{Time: 30_120, Price: 99})
	fmt.Println(err)

	prices.Container().WithAcquire(func(t *PriceTable) {
		for quote := range t.between(30_000, 30_180) {
			fmt.Println(quote.Time, quote.Price)
		}
		fmt.Println(len(t.all()), "quotes in", len(t.slabs), "slabs")
	})
	fmt.Println(oplogtest.Verify(prices, equalPrices))
	// Output:
	// <nil>
	// 30000 100
	// 30030 105
	// 30120 99
	// 1000 quotes in 5 slabs
	// <nil>
}
