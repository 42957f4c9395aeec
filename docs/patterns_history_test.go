package docs_test

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
		t.Errorf("the table was not retained and has %v: is the wrong way right now?", rows)
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
