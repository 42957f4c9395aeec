package main

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/poolswap/poolswap"
)

func TestRun(t *testing.T) {
	var out bytes.Buffer
	if err := run(t.Context(), &out); err != nil {
		t.Fatal(err)
	}
	if want := "[c.example] <nil>\n[a.example b.example c.example]\n"; out.String() != want {
		t.Errorf("it prints\n%swant\n%s", &out, want)
	}
}

// following is a history that follows lists of its own, in a synctest bubble.
type following struct {
	*History
	t    *testing.T
	pool *poolswap.Pool[List, *List]
}

func follow(t *testing.T, limit int, options poolswap.Options[List]) *following {
	pool, lists := newLists(options)
	h := &History{lists: lists, limit: limit}
	go h.follow(t.Context(), func(uint64) {})
	return &following{h, t, pool}
}

// publish returns once the history has the version.
func (f *following) publish(names ...string) uint64 {
	f.t.Helper()
	version, err := publish(f.t.Context(), f.lists, names...)
	if err != nil {
		f.t.Fatal(err)
	}
	synctest.Wait()
	return version
}

func (f *following) close() {
	f.t.Helper()
	if err := f.pool.Close(f.t.Context()); err != nil {
		f.t.Error(err)
	}
	if stats := f.pool.Stats(); stats.Held != 0 {
		f.t.Errorf("after the end: %+v", stats)
	}
}

func (f *following) current() (names []string) {
	f.lists.WithAcquire(func(l *List) { names = slices.Clone(l.names) })
	return names
}

func TestHistory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := follow(t, 2, poolswap.Options[List]{})
		first := f.publish("a", "b", "c")
		if names, err := f.page(first, 0, 2); !slices.Equal(names, []string{"a", "b"}) {
			t.Errorf("the first page is %v, %v", names, err)
		}
		second := f.publish("d")
		if names, err := f.page(first, 2, 2); !slices.Equal(names, []string{"c"}) {
			t.Errorf("while version %d is current, the second page of %d is %v, %v", second, first, names, err)
		}
		if err := f.rollBack(t.Context(), first); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if third := f.lists.Version(); !slices.Equal(f.current(), []string{"a", "b", "c"}) || third <= second {
			t.Errorf("after the way back version %d has %v", third, f.current())
		}
		if _, err := f.page(first, 0, 2); !errors.Is(err, errEvicted) {
			t.Errorf("an evicted version: %v", err)
		}
		if stats := f.pool.Stats(); stats.Held != 2 || stats.Retired != 1 || stats.Live != 3 {
			t.Errorf("two versions are kept, one of them current: %+v", stats)
		}
		f.close()
	})
}

func TestListWithoutReference(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := follow(t, 0, poolswap.Options[List]{})
		f.publish("a", "b")
		var pointer *List
		f.lists.WithAcquire(func(l *List) { pointer = l }) // wrong
		f.publish("c")
		f.publish("d") // in the memory of the first
		if !slices.Equal(pointer.names, []string{"d"}) {
			t.Errorf("the list was not retained and has %v: is the wrong way right now?", pointer.names)
		}
		f.close()
	})
}

func TestUpdateOfOldVersion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := follow(t, 2, poolswap.Options[List]{})
		first := f.publish("a")
		f.publish("b")
		old, err := f.acquire(first)
		if err != nil {
			t.Fatal(err)
		}
		func() {
			defer func() {
				if text, _ := recover().(string); !strings.Contains(text, "was replaced and is still held") {
					t.Errorf("it panics with %q", text)
				}
			}()
			f.lists.Update(old) // wrong
		}()
		f.lists.Release(old)
		f.close()
	})
}

// rollBackHolding is the wrong way back.
func (h *History) rollBackHolding(ctx context.Context, version uint64) error {
	old, err := h.acquire(version)
	if err != nil {
		return err
	}
	defer h.lists.Release(old)
	_, err = h.lists.Publish(ctx, func(next, _ *List) error {
		next.names = append(next.names, old.names...)
		return nil
	})
	return err
}

// Three versions are kept, and four lists may exist. A publication is in fill
// when the way back begins, so it evicts the oldest version before that has its
// turn.
func TestRollBackUnderMaxLive(t *testing.T) {
	for _, c := range []struct {
		name     string
		rollBack func(*History, context.Context, uint64) error
		back     int // to which of the three versions
		want     error
		current  string
	}{
		{"right: to a version that is kept", (*History).rollBack, 1, nil, "b"},
		{"right: to one that is evicted in the meantime", (*History).rollBack, 0, errEvicted, "d"},
		{"wrong: the evicted one is held meanwhile", (*History).rollBackHolding, 0, poolswap.ErrLimit, "d"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := follow(t, 3, poolswap.Options[List]{Spares: 3, MaxLive: 4})
				versions := []uint64{f.publish("a"), f.publish("b"), f.publish("c")}
				filling, published := make(chan struct{}), make(chan error)
				go func() {
					_, err := f.lists.Publish(t.Context(), func(next, _ *List) error {
						<-filling
						next.names = append(next.names, "d")
						return nil
					})
					published <- err
				}()
				synctest.Wait() // until it is in fill
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				ended := make(chan error)
				go func() { ended <- c.rollBack(f.History, ctx, versions[c.back]) }()
				synctest.Wait() // until it waits for its turn
				close(filling)
				if err := <-published; err != nil {
					t.Error(err)
				}
				if err := <-ended; !errors.Is(err, c.want) {
					t.Errorf("the way back ends with %v, want %v", err, c.want)
				}
				if names := f.current(); !slices.Equal(names, []string{c.current}) {
					t.Errorf("the current list is %v, want %s", names, c.current)
				}
				f.publish("e") // all that was held is back
				f.close()
			})
		})
	}
}
