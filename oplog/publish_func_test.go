package oplog_test

import (
	"context"
	"sync"
	"testing"

	"github.com/poolswap/poolswap/oplog"
)

type (
	counters = oplog.View[string, int]
	changes  = []oplog.Change[string, int]
)

// increment returns the change that counts one more.
func increment(now *counters) (changes, error) {
	n, _ := now.Get("n")
	return changes{{Key: "n", Value: n + 1}}, nil
}

func TestPublishFuncLosesNothing(t *testing.T) {
	t.Parallel()
	m := must(oplog.NewMap(oplog.MapOptions[string, int]{Keep: 4}))
	const publishers, times = 4, 500
	var counting sync.WaitGroup
	for range publishers {
		counting.Go(func() {
			for range times {
				if _, err := m.PublishFunc(t.Context(), increment); err != nil {
					t.Error(err)
				}
			}
		})
	}
	counting.Wait()
	if n, _ := m.Get("n"); n != publishers*times {
		t.Errorf("counted %d, want %d", n, publishers*times)
	}
	if s := m.Log().Stats(); s.Operations != publishers*times || s.Publications != publishers*times {
		t.Errorf("the stats are %+v", s)
	}
}

func TestPublishFuncWithNil(t *testing.T) {
	t.Parallel()
	m := must(oplog.NewMap(oplog.MapOptions[string, int]{}))
	for want, call := range map[string]func(){
		"oplog: PublishFunc with a nil Context": func() { _, _ = m.PublishFunc(nil, increment) }, //nolint:staticcheck // on purpose
		"oplog: PublishFunc with nil ops":       func() { _, _ = m.PublishFunc(context.Background(), nil) },
	} {
		func() {
			defer func() {
				if value := recover(); value != want {
					t.Errorf("the panic is %v, want %q", value, want)
				}
			}()
			call()
		}()
	}
}
