package keyed

import (
	"context"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/oplog"
)

type view = oplog.View[string, int64]

// viaOplog publishes changes through an oplog.Map.
type viaOplog struct {
	data *Data
	keep int
	m    *oplog.Map[string, int64]
}

func newOplog(d *Data) (*viaOplog, error) {
	// As package oplog advises: what takes about as long to apply as a copy of
	// the map takes, and twice the largest publication at least.
	keep := max(len(d.Keys)/5, 2000)
	m, err := oplog.NewMap(oplog.MapOptions[string, int64]{Keep: keep})
	if err != nil {
		return nil, err
	}
	_, err = m.Replace(context.Background(), func(set func(string, int64)) error {
		for i, key := range d.Keys {
			set(key, d.Values[i])
		}
		return nil
	})
	return &viaOplog{d, keep, m}, err
}

func (t *viaOplog) Update(from, to int) error {
	_, err := t.m.Publish(context.Background(), t.data.Changes[from:to]...)
	return err
}

// Warm lets the log grow to its final size, a bit more than twice what it keeps.
func (t *viaOplog) Warm(n int) int { return 3*(t.keep+n)/n + 1 }

func (t *viaOplog) Reader() (sum func(keys []string) int64, end func()) {
	r := t.m.Container().NewReader()
	return func(keys []string) int64 { return sumOplog(r, keys) }, r.Close
}

func sumOplog(r *poolswap.Reader[view], keys []string) (sum int64) {
	for _, key := range keys {
		value, _ := r.Load().Get(key)
		sum += value
	}
	return sum
}

// oplogGet reads through Map.Get, which counts the reader for each key.
type oplogGet struct{ *viaOplog }

func (t oplogGet) Reader() (sum func(keys []string) int64, end func()) {
	return func(keys []string) int64 { return sumOplogGet(t.m, keys) }, nothing
}

func sumOplogGet(m *oplog.Map[string, int64], keys []string) (sum int64) {
	for _, key := range keys {
		value, _ := m.Get(key)
		sum += value
	}
	return sum
}
