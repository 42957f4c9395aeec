package docs_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/poolswap/poolswap"
)

func (s *Service) ready(ctx context.Context) error {
	_, err := s.tables.Wait(ctx, 0)
	return err
}

// Requests are served once there is a table.
func Example_firstLoad() {
	ctx := context.Background()
	s := NewService()
	go func() { _ = s.reload(ctx, strings.NewReader("17 a.example\n")) }()
	fmt.Println(s.ready(ctx))
	name, _ := s.lookup(nil, 17)
	fmt.Println(string(name))
	// Output:
	// <nil>
	// a.example
}

func (s *Service) feed(ctx context.Context, send func(version uint64, rows int)) {
	for version, t := range s.tables.Versions(ctx) {
		send(version, len(t.rows)) // t is held for this body alone
	}
}

func (s *Service) run(ctx context.Context, ticks <-chan struct{}, changed func(version uint64)) error {
	version := uint64(0)
	for {
		select {
		case <-ticks:
			// other work
		case <-s.tables.Changed(version): // of the version that was handled last
			var err error
			if version, err = s.tables.Wait(ctx, version); err != nil {
				return err // ErrClosed after Close
			}
			changed(version)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// A subscriber hears of the current version and of each that follows.
func Example_changeFeed() {
	ctx := context.Background()
	s := NewService()
	_ = s.reload(ctx, strings.NewReader("17 a.example\n"))
	changes := make(chan int)
	go func() {
		s.feed(ctx, func(_ uint64, rows int) { changes <- rows })
		close(changes)
	}()
	fmt.Println(<-changes)
	_ = s.add(ctx, 18, "b.example")
	fmt.Println(<-changes)
	_ = s.tables.Close(ctx)
	_, more := <-changes
	fmt.Println(more)
	// Output:
	// 1
	// 2
	// false
}

type Cache struct {
	tables  *poolswap.Container[Table, *Table]
	version uint64            // of the table that names are from
	names   map[uint32]string // belongs to one goroutine
}

func (c *Cache) lookup(key uint32) (string, error) {
	t := c.tables.Acquire()
	if t == nil { // the container is empty
		return "", errNotLoaded
	}
	defer c.tables.Release(t)
	if v := c.tables.VersionOf(t); v != c.version { // of t: Version() may be newer
		clear(c.names)
		c.version = v
	}
	if _, known := c.names[key]; !known {
		c.names[key] = ""
		if i := t.find(key); i >= 0 {
			c.names[key] = string(t.name(i))
		}
	}
	return c.names[key], nil
}

// A cache is emptied when the version changes.
func Example_cache() {
	ctx := context.Background()
	s := NewService()
	c := &Cache{tables: s.tables, names: make(map[uint32]string)}
	for _, source := range []string{"17 a.example", "17 b.example", "17 c.example"} {
		_ = s.reload(ctx, strings.NewReader(source))
		fmt.Println(c.lookup(17))
	}
	// Output:
	// a.example <nil>
	// b.example <nil>
	// c.example <nil>
}

// History keeps the last versions of a table.
type History struct {
	tables *poolswap.Container[Table, *Table]
	limit  int

	mu   sync.Mutex
	kept []keptTable // oldest first, each with a reference of its own
}

type keptTable struct {
	number uint64
	table  *Table
}

// follow keeps each version that it sees, until ctx ends or the container closes.
func (h *History) follow(ctx context.Context) {
	defer h.evict(0)
	for number, t := range h.tables.Versions(ctx) {
		h.mu.Lock()
		h.kept = append(h.kept, keptTable{number, h.tables.Retain(t)})
		h.mu.Unlock()
		h.evict(h.limit)
	}
}

// evict releases the oldest versions until n are left.
func (h *History) evict(n int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for len(h.kept) > n {
		h.tables.Release(h.kept[0].table)
		h.kept = slices.Delete(h.kept, 0, 1)
	}
}

var errEvicted = errors.New("this version is not kept any more")

// acquire returns the table of a version. The caller releases it.
func (h *History) acquire(number uint64) (*Table, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, v := range h.kept {
		if v.number == number {
			return h.tables.Retain(v.table), nil
		}
	}
	return nil, errEvicted
}

func (h *History) rollBack(ctx context.Context, number uint64) error {
	_, err := h.tables.Publish(ctx, func(next, _ *Table) error {
		old, err := h.acquire(number) // not before, while Publish waits for next
		if err != nil {
			return err
		}
		defer h.tables.Release(old)
		next.copyFrom(old) // a new version with the old content
		return nil
	})
	return err
}

func (h *History) page(number uint64, from, n int) (keys []uint32, err error) {
	t, err := h.acquire(number)
	if err != nil {
		return nil, err
	}
	defer h.tables.Release(t)
	for i := from; i < min(from+n, len(t.rows)); i++ {
		keys = append(keys, t.rows[i].key)
	}
	return keys, nil
}
