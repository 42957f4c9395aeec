package poolswap_test

import (
	"context"
	"errors"
	"slices"
	"strings"
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

func TestAFeedMissesNoVersionThatStays(t *testing.T) {
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

func TestASelectEndsWhenTheContainerCloses(t *testing.T) {
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

func TestACacheKnowsTheVersionNotTheAddress(t *testing.T) {
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

// keepUncounted is the wrong history.
func (h *History) keepUncounted(number uint64) {
	h.tables.WithAcquire(func(t *Table) { h.kept = append(h.kept, keptTable{number, t}) })
}

func TestAHistoryPagesAndRollsBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewService()
		h := &History{tables: s.tables, limit: 2}
		go h.follow(t.Context())
		publish := func(source string) uint64 {
			load(t, s, source)
			synctest.Wait() // until the history has it
			return s.tables.Version()
		}
		first := publish("1 a\n2 b\n3 c")
		if keys, err := h.page(first, 0, 2); !slices.Equal(keys, []uint32{1, 2}) {
			t.Errorf("the first page is %v, %v", keys, err)
		}
		second := publish("4 d")
		if keys, err := h.page(first, 2, 2); !slices.Equal(keys, []uint32{3}) {
			t.Errorf("while version %d is current, the second page of %d is %v, %v", second, first, keys, err)
		}

		if err := h.rollBack(t.Context(), first); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		third := s.tables.Version()
		if name, err := s.lookup(nil, 3); string(name) != "c" || third <= second {
			t.Errorf("after the way back version %d has %q, %v", third, name, err)
		}
		if _, err := h.page(first, 0, 2); !errors.Is(err, errEvicted) {
			t.Errorf("an evicted version: %v", err)
		}
		if stats := s.pool.Stats(); stats.Held != 2 || stats.Retired != 1 || stats.Live != 3 {
			t.Errorf("two versions are kept, one of them current: %+v", stats)
		}

		// The loop ends and lets go, so Close comes to an end.
		if err := s.shutdown(t.Context()); err != nil {
			t.Error(err)
		}
		if stats := s.pool.Stats(); stats.Held != 0 {
			t.Errorf("after the end: %+v", stats)
		}
	})

	s := NewService()
	h := &History{tables: s.tables}
	load(t, s, "1 a\n2 b")
	h.keepUncounted(1)
	load(t, s, "3 c")
	load(t, s, "4 d") // in the memory of the first
	if rows := h.kept[0].table.rows; rows[0].key != 4 {
		t.Errorf("a table that nobody retained has %v: is the wrong way right now?", rows)
	}
	replaced := s.tables.Acquire()
	load(t, s, "5 e")
	text, _ := panicValue(func() { s.tables.Update(replaced) }).(string)
	if !strings.Contains(text, "was replaced and is still held") {
		t.Errorf("an Update of an old version panics with %q", text)
	}
	s.tables.Release(replaced)
}

// rollBackHolding is the wrong way back.
func (h *History) rollBackHolding(ctx context.Context, number uint64) error {
	old, err := h.acquire(number)
	if err != nil {
		return err
	}
	defer h.tables.Release(old)
	_, err = h.tables.Publish(ctx, func(next, _ *Table) error {
		next.copyFrom(old)
		return nil
	})
	return err
}

// Three versions are kept, and four tables may exist. A reload is in fill when
// the way back begins, so it evicts the oldest version before that has its turn.
func TestAWayBackDoesNotWaitForWhatItHolds(t *testing.T) {
	for _, c := range []struct {
		name     string
		rollBack func(*History, context.Context, uint64) error
		back     int // to which of the three versions
		want     error
	}{
		{"right: to a version that is kept", (*History).rollBack, 1, nil},
		{"right: to one that is evicted in the meantime", (*History).rollBack, 0, errEvicted},
		{"wrong: the evicted one is held meanwhile", (*History).rollBackHolding, 0, poolswap.ErrLimit},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				pool := poolswap.NewPoolWithOptions(
					func() *Table { return new(Table) },
					func(t *Table) bool { t.rows, t.names = t.rows[:0], t.names[:0]; return true },
					poolswap.Options[Table]{Spares: 3, MaxLive: 4})
				s := &Service{pool: pool, tables: poolswap.NewEmptyContainer(pool)}
				h := &History{tables: s.tables, limit: 3}
				go h.follow(t.Context())
				var versions []uint64
				for _, source := range []string{"1 a", "2 b", "3 c"} {
					load(t, s, source)
					synctest.Wait() // until the history has it
					versions = append(versions, s.tables.Version())
				}

				filling, reloaded := make(chan struct{}), make(chan error)
				go func() {
					_, err := s.tables.Publish(t.Context(), func(next, _ *Table) error {
						<-filling
						return next.load(strings.NewReader("4 d"))
					})
					reloaded <- err
				}()
				synctest.Wait() // until it is in fill
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				ended := make(chan error)
				go func() { ended <- c.rollBack(h, ctx, versions[c.back]) }()
				synctest.Wait() // until it waits for its turn
				close(filling)
				if err := <-reloaded; err != nil {
					t.Error(err)
				}
				if err := <-ended; !errors.Is(err, c.want) {
					t.Errorf("the way back ends with %v, want %v", err, c.want)
				}
				key := uint32(4)
				if c.want == nil {
					key = uint32(c.back + 1)
				}
				s.tables.WithAcquire(func(table *Table) {
					if table.find(key) < 0 {
						t.Errorf("the current table has %v, want key %d", table.rows, key)
					}
				})
				load(t, s, "5 e") // what was held is back
				if err := s.shutdown(t.Context()); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// The number of a version is given when fill has returned.
func TestFillDoesNotLearnItsVersion(t *testing.T) {
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
