package docs_test

import (
	"context"
	"fmt"
	"strings"

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

// Part lends one part of the current object for the time of a call.
type Part[P any] func(use func(P))

// newPart returns the part that pick selects. While the container is empty, use is
// not called.
func newPart[T any, O poolswap.Object[T], P any](c *poolswap.Container[T, O], pick func(*T) P) Part[P] {
	return func(use func(P)) {
		c.WithAcquire(func(obj *T) {
			if obj != nil {
				use(pick(obj))
			}
		})
	}
}

type Counter struct {
	names Part[[]byte] // and not the table
}

func (c *Counter) bytes() (n int) {
	c.names(func(names []byte) { n = len(names) }) // names are lent until this returns
	return n
}

// A component that needs the names gets the names alone.
func Example_part() {
	ctx := context.Background()
	s := NewService()
	counter := &Counter{names: newPart(s.tables, func(t *Table) []byte { return t.names })}
	fmt.Println(counter.bytes())
	_ = s.reload(ctx, strings.NewReader("17 a.example\n"))
	fmt.Println(counter.bytes(), s.pool.Stats().Held)
	// Output:
	// 0
	// 9 0
}
