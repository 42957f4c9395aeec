package docs_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/poolswap/poolswap"
)

// At the limit a reload names the held versions, and does not read the source.
func TestReloadAtLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newLimited()
		load(t, s, "17 a.example")
		first := s.tables.Version()
		slow := s.tables.Acquire()
		load(t, s, "17 b.example")

		source := strings.NewReader("17 c.example")
		err := s.reloadWithin(t.Context(), source)
		var held *poolswap.HeldError
		if !errors.Is(err, errSkipped) || !errors.Is(err, poolswap.ErrLimit) || !errors.Is(err, context.DeadlineExceeded) || !errors.As(err, &held) {
			t.Fatalf("the reload returns %v", err)
		}
		if held.Objects != 1 || held.References != 1 || len(held.Versions) != 1 || held.Versions[0] != first || held.Current != 1 || held.Longest < 10*time.Second {
			t.Errorf("the error says %+v", held)
		}
		if source.Len() != len("17 c.example") {
			t.Error("the source was read")
		}
		s.tables.Release(slow)
		if err := s.reloadWithin(t.Context(), source); err != nil {
			t.Error(err)
		}
	})
}

// One writer waits for an object, and the other behind it for its turn.
func TestReloadWithoutTurnAtLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newLimited()
		load(t, s, "17 a.example")
		slow := s.tables.Acquire()
		load(t, s, "17 b.example")
		ended := [2]chan error{make(chan error, 1), make(chan error, 1)}
		for i := range ended {
			// The second one's time ends first. If both ended at once, it could get
			// the turn before it sees that.
			ctx, cancel := context.WithTimeout(t.Context(), time.Hour>>(12*i))
			defer cancel()
			go func() { ended[i] <- s.reloadWithin(ctx, strings.NewReader("17 c.example")) }()
			synctest.Wait() // until it waits
		}
		for i, limit := range []bool{true, false} {
			err := <-ended[i]
			var held *poolswap.HeldError
			if !errors.Is(err, errSkipped) || !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("reload %d ends with %v", i, err)
			}
			if errors.Is(err, poolswap.ErrLimit) != limit || errors.As(err, &held) != limit {
				t.Errorf("reload %d says that the limit is in the way: %v, want %v", i, err, limit)
			}
		}
		s.tables.Release(slow)
	})
}

// A table that did not come from the pool is not refused.
func TestLiteralBeyondLimit(t *testing.T) {
	s := newLimited()
	load(t, s, "17 a.example")
	slow := s.tables.Acquire()
	load(t, s, "17 b.example")
	s.tables.Update(new(Table))
	if live := s.pool.Stats().Live; live != 3 {
		t.Errorf("%d tables are live under a limit of 2, want 3", live)
	}
	s.tables.Release(slow)
	load(t, s, "17 c.example")
	if live := s.pool.Stats().Live; live != 3 {
		t.Errorf("later %d tables are live, want 3", live)
	}
	s.pool.Trim()
	if live := s.pool.Stats().Live; live > 2 {
		t.Errorf("after Trim %d tables are live", live)
	}
}

// A reader that holds an old version and waits for a new one keeps a publisher from
// making it, where MaxLive leaves no room.
func TestHeldVersionBlocksPublishAtLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newLimited()
		load(t, s, "17 a.example")
		base := s.tables.Acquire()
		ctx, cancel := context.WithCancel(t.Context())
		seen, done := 0, make(chan struct{})
		go func() {
			defer close(done)
			for range s.tables.Versions(ctx) {
				seen++
			}
		}()
		synctest.Wait() // until it waits for the second version
		for range 3 {
			_ = s.reloadWithin(ctx, strings.NewReader("17 b.example"))
		}
		synctest.Wait()
		if seen != 2 {
			t.Errorf("the reader saw %d versions, want the one that it holds and one more", seen)
		}
		s.tables.Release(base)
		load(t, s, "17 c.example")
		synctest.Wait()
		if seen != 3 {
			t.Errorf("after its Release the reader saw %d versions, want 3", seen)
		}
		cancel()
		<-done
	})
}

func TestShutdownNamesHolders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewService()
		load(t, s, "17 a.example")
		version := s.tables.Version()
		forgotten := s.tables.Acquire()
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		var held *poolswap.HeldError
		if err := s.shutdown(ctx); !errors.Is(err, context.DeadlineExceeded) || !errors.As(err, &held) {
			t.Fatalf("the shutdown returns %v", err)
		}
		if held.Op != "Close" || held.Objects != 1 || held.References != 1 || len(held.Versions) != 1 || held.Versions[0] != version || held.Longest != 5*time.Second {
			t.Errorf("the error says %+v", held)
		}
		s.tables.Release(forgotten)
		if err := s.shutdown(t.Context()); err != nil {
			t.Errorf("once all is back: %v", err)
		}
	})
}

// discardAtOnce is the wrong remap: it unmaps at the swap.
func (f *Files) discardAtOnce(ctx context.Context, name string) error {
	var old *Mapped
	_, err := f.current.Publish(ctx, func(next, current *Mapped) error {
		old = current
		return next.open(name)
	})
	if old != nil {
		old.close()
	}
	return err
}

func TestMappingStaysUntilLastReader(t *testing.T) {
	for _, c := range []struct {
		name   string
		reopen func(*Files, context.Context, string) error
		mapped bool // whether a reader's mapping is still there after a reopen
	}{
		{"right: Discard unmaps", (*Files).reopen, true},
		{"wrong: the writer unmaps at the swap", (*Files).discardAtOnce, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			before := mappings.Load()
			f := NewFiles()
			if err := c.reopen(f, t.Context(), "patterns.md"); err != nil {
				t.Fatal(err)
			}
			held := f.current.Acquire()
			if err := c.reopen(f, t.Context(), "performance.md"); err != nil {
				t.Fatal(err)
			}
			if mapped := held.data != nil; mapped != c.mapped {
				t.Errorf("the reader has its mapping: %v, want %v", mapped, c.mapped)
			}
			if err := c.reopen(f, t.Context(), "no such file"); err == nil {
				t.Error("a file that does not exist was opened")
			}
			f.current.Release(held)
			if err := f.close(t.Context()); err != nil || mappings.Load() != before {
				t.Errorf("after Close: %v, and %d mappings", err, mappings.Load()-before)
			}
		})
	}
}

// Each of these would wait for ever without its deadline.
func TestWaitsForItself(t *testing.T) {
	deadline := func(t *testing.T) context.Context {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		t.Cleanup(cancel)
		return ctx
	}
	for _, c := range []struct {
		name string
		wait func(*testing.T, *Service) error
	}{
		{"a Publish of the same container in fill", func(t *testing.T, s *Service) (err error) {
			_, _ = s.tables.Publish(t.Context(), func(*Table, *Table) error {
				err = s.reload(deadline(t), strings.NewReader("18 b.example"))
				return err
			})
			return err
		}},
		{"Container.Close in fill", func(t *testing.T, s *Service) (err error) {
			_, _ = s.tables.Publish(t.Context(), func(*Table, *Table) error {
				err = s.tables.Close(deadline(t))
				return err
			})
			return err
		}},
		{"Pool.Close in fill", func(t *testing.T, s *Service) (err error) {
			_, _ = s.tables.Publish(t.Context(), func(*Table, *Table) error {
				err = s.pool.Close(deadline(t))
				return err
			})
			return err
		}},
		{"Drain in a loop over Versions", func(t *testing.T, s *Service) (err error) {
			for range s.tables.Versions(t.Context()) {
				load(t, s, "18 b.example")
				return s.pool.Drain(deadline(t))
			}
			return nil
		}},
		{"Close in a loop over Versions", func(t *testing.T, s *Service) error {
			for range s.tables.Versions(t.Context()) {
				return s.tables.Close(deadline(t))
			}
			return nil
		}},
		{"Close with an object that the caller holds", func(t *testing.T, s *Service) error {
			defer s.tables.Release(s.tables.Acquire())
			return s.tables.Close(deadline(t))
		}},
		{"Close with an idle Reader", func(t *testing.T, s *Service) error {
			r := s.tables.NewReader()
			defer r.Close()
			r.Load()
			return s.tables.Close(deadline(t))
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := NewService()
				load(t, s, "17 a.example")
				if err := c.wait(t, s); !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("it returns %v", err)
				}
				if err := s.shutdown(t.Context()); err != nil {
					t.Errorf("later: %v", err)
				}
			})
		})
	}
	t.Run("Drain and Close in reset", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var s *Service
			var errs []error
			pool := poolswap.NewPool(func() *Table { return new(Table) }, func(*Table) bool {
				errs = append(errs, s.pool.Drain(deadline(t)), s.pool.Close(deadline(t)))
				return true
			})
			s = &Service{pool: pool, tables: poolswap.NewEmptyContainer(pool)}
			load(t, s, "17 a.example")
			s.tables.Update(nil)
			if len(errs) != 2 || !errors.Is(errs[0], context.DeadlineExceeded) || !errors.Is(errs[1], context.DeadlineExceeded) {
				t.Errorf("they return %v", errs)
			}
		})
	})
}
