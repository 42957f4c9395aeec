package docs_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/poolswap/poolswap"
)

func TestRequestsWaitForTheFirstTable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewService()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := s.ready(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("without a table: %v", err)
		}
		time.AfterFunc(time.Hour, func() { load(t, s, "17 a.example") })
		if err := s.ready(t.Context()); err != nil {
			t.Error(err)
		}
		if name, err := s.lookup(nil, 17); string(name) != "a.example" {
			t.Errorf("the first request finds %q, %v", name, err)
		}
	})
}

// feedFromAcquire is the wrong feed: between runs where a publication may come.
func (s *Service) feedFromAcquire(ctx context.Context, send func(rows int), between func()) {
	for ctx.Err() == nil {
		s.tables.WithAcquire(func(t *Table) { send(len(t.rows)) })
		between()
		select {
		case <-s.tables.Changed(s.tables.Version()):
		case <-ctx.Done():
		}
	}
}

func TestFeedSeesLastVersion(t *testing.T) {
	for _, c := range []struct {
		name string
		feed func(s *Service, ctx context.Context, send func(rows int), between func())
		last int // that the subscriber heard of
	}{
		{"right: Versions", func(s *Service, ctx context.Context, send func(int), between func()) {
			s.feed(ctx, func(_ uint64, rows int) { send(rows); between() })
		}, 2},
		{"right: Changed of the version handled last, and Wait", func(s *Service, ctx context.Context, send func(int), between func()) {
			_ = s.run(ctx, nil, func(uint64) {
				s.tables.WithAcquire(func(t *Table) { send(len(t.rows)) })
				between()
			})
		}, 2},
		{"wrong: the version is asked for after the table was acquired", (*Service).feedFromAcquire, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := NewService()
				load(t, s, "17 a.example")
				heard, once := 0, true
				ctx, cancel := context.WithCancel(t.Context())
				done := make(chan struct{})
				go func() {
					defer close(done)
					c.feed(s, ctx, func(rows int) { heard = rows }, func() {
						if once {
							once = false
							if err := s.add(t.Context(), 18, "b.example"); err != nil {
								t.Error(err)
							}
						}
					})
				}()
				synctest.Wait() // until the feed waits
				if heard != c.last {
					t.Errorf("the table has 2 rows, the subscriber heard of %d, want %d", heard, c.last)
				}
				cancel()
				<-done
			})
		})
	}
}

func TestSelectEndsAtClose(t *testing.T) {
	s := NewService()
	load(t, s, "17 a.example")
	ticks, ended := make(chan struct{}), make(chan error)
	handled := make(chan uint64)
	go func() { ended <- s.run(t.Context(), ticks, func(version uint64) { handled <- version }) }()
	if version := <-handled; version != s.tables.Version() {
		t.Errorf("handled %d, current is %d", version, s.tables.Version())
	}
	ticks <- struct{}{}
	if err := s.tables.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; !errors.Is(err, poolswap.ErrClosed) {
		t.Errorf("it ends with %v", err)
	}
}

// cacheByAddress is the wrong cache.
type cacheByAddress struct {
	tables *poolswap.Container[Table, *Table]
	table  *Table
	names  map[uint32]string
}

func (c *cacheByAddress) lookup(key uint32) (string, error) {
	t := c.tables.Acquire()
	defer c.tables.Release(t)
	if t != c.table {
		clear(c.names)
		c.table = t
	}
	if _, known := c.names[key]; !known {
		c.names[key] = string(t.name(t.find(key)))
	}
	return c.names[key], nil
}

func TestCacheByVersion(t *testing.T) {
	s := NewService()
	for _, c := range []struct {
		name  string
		cache interface {
			lookup(key uint32) (string, error)
		}
		third string
	}{
		{"right: by version", &Cache{tables: s.tables, names: make(map[uint32]string)}, "c.example"},
		{"wrong: by address", &cacheByAddress{tables: s.tables, names: make(map[uint32]string)}, "a.example"},
	} {
		t.Run(c.name, func(t *testing.T) {
			load(t, s, "17 a.example")
			if name, err := c.cache.lookup(17); name != "a.example" || err != nil {
				t.Errorf("first: %q, %v", name, err)
			}
			load(t, s, "17 b.example")
			load(t, s, "17 c.example") // in the memory of the first
			if name, err := c.cache.lookup(17); name != c.third || err != nil {
				t.Errorf("third: %q, %v, want %q", name, err, c.third)
			}
		})
	}
}

// The number of a version is given when fill has returned.
func TestFillHasNoVersion(t *testing.T) {
	s := NewService()
	for range 4 {
		var inFill uint64
		version, err := s.tables.Publish(t.Context(), func(next, _ *Table) error {
			inFill = s.tables.VersionOf(next)
			return nil
		})
		if err != nil || inFill >= version {
			t.Errorf("version %d, %v, is %d in fill, want an earlier one or 0", version, err, inFill)
		}
	}
}
