package keyed

import (
	"context"
	"maps"
	"slices"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/bench/internal/rivals"
)

type object = rivals.Object[plain]

// recycled makes the whole map anew in a recycled object.
type recycled struct {
	*rivals.PoolSwap[plain]
	ready

	fill     func(next, current *object) error // made once: a closure allocates
	from, to int                               // the changes for fill
}

func newRecycled(d *Data) *recycled {
	return &recycled{PoolSwap: rivals.NewPoolSwap(&rivals.Functions[plain]{
		New:   func() plain { return make(plain, len(d.Keys)) },
		Reset: func(m *plain) { clear(*m) },
	}, poolswap.Options[object]{})}
}

// newRefill returns a table that is filled from the source that has the truth,
// here two slices.
func newRefill(d *Data) (*recycled, error) {
	t := newRecycled(d)
	values := slices.Clone(d.Values)
	t.fill = func(next, _ *object) error {
		for i, c := range d.Changes[t.from:t.to] {
			values[d.places[t.from+i]] = c.Value
		}
		m := next.Value
		for i, key := range d.Keys {
			m[key] = values[i]
		}
		return nil
	}
	return t, t.Update(0, 0)
}

// newCopyRecycled returns a table that is copied from the current one.
func newCopyRecycled(d *Data) (*recycled, error) {
	t := newRecycled(d)
	t.fill = func(next, _ *object) error { maps.Copy(next.Value, d.plain()); return nil }
	if err := t.Update(0, 0); err != nil {
		return nil, err
	}
	t.fill = func(next, current *object) error {
		maps.Copy(next.Value, current.Value)
		apply(next.Value, d.Changes[t.from:t.to])
		return nil
	}
	return t, nil
}

func (t *recycled) Update(from, to int) error {
	t.from, t.to = from, to
	_, err := t.Publish(context.Background(), t.fill)
	return err
}

func (t *recycled) Reader() (sum func(keys []string) int64, end func()) {
	r := t.NewReader()
	return func(keys []string) int64 { return sumRecycled(r, keys) }, r.Close
}

func sumRecycled(r *poolswap.Reader[object], keys []string) (sum int64) {
	for _, key := range keys {
		sum += r.Load().Value[key]
	}
	return sum
}
