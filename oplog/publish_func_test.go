package oplog_test

import (
	"context"
	"errors"
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

func TestPublishersThatDeriveTheirOperationsLoseNothing(t *testing.T) {
	t.Parallel()
	m := must(oplog.NewMap(oplog.MapConfig[string, int]{Keep: 4}))
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

func TestPublishFuncThatPublishesNothingLeavesTheMapAsItWas(t *testing.T) {
	t.Parallel()
	fail := errors.New("no")
	for name, test := range map[string]struct {
		ops  func(*counters) (changes, error)
		want error
	}{
		"an error":                  {func(*counters) (changes, error) { return nil, fail }, fail},
		"an error, with operations": {func(*counters) (changes, error) { return changes{{Key: "n"}}, fail }, fail},
		"no operations":             {func(*counters) (changes, error) { return nil, nil }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := must(oplog.NewMap(oplog.MapConfig[string, int]{}))
			before := must(m.PublishFunc(t.Context(), increment))
			if version, err := m.PublishFunc(t.Context(), test.ops); version != 0 || err != test.want {
				t.Errorf("returned %d and %v, want 0 and %v", version, err, test.want)
			}
			if now := m.Container().Version(); now != before {
				t.Errorf("version %d became %d", before, now)
			}
			if s := m.Log().Stats(); s.Operations != 1 || s.Kept != 1 {
				t.Errorf("the stats are %+v", s)
			}
			must(m.Set(t.Context(), "other", 1)) // what was derived before is not published with it
			if n, _ := m.Get("n"); n != 1 {
				t.Errorf("n is %d, want 1", n)
			}
		})
	}
}

func TestAPanicInPublishFuncPassesOn(t *testing.T) {
	t.Parallel()
	m := must(oplog.NewMap(oplog.MapConfig[string, int]{}))
	func() {
		defer func() {
			if value := recover(); value != "no" {
				t.Errorf("the panic is %v", value)
			}
		}()
		_, _ = m.PublishFunc(t.Context(), func(*counters) (changes, error) { panic("no") })
	}()
	must(m.Set(t.Context(), "n", 7)) // the turn has passed on, and the function is forgotten
	if n, _ := m.Get("n"); n != 7 {
		t.Errorf("n is %d, want 7", n)
	}
}

func TestPublishFuncPanicsForNil(t *testing.T) {
	t.Parallel()
	m := must(oplog.NewMap(oplog.MapConfig[string, int]{}))
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
