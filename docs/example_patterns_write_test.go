package docs_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"slices"
	"strings"

	"github.com/poolswap/poolswap"
)

var errNoRows = errors.New("the source has no rows")

func (t *Table) check() error {
	if len(t.rows) == 0 {
		return errNoRows
	}
	return nil
}

func (s *Service) reload(ctx context.Context, source io.Reader) error {
	_, err := s.tables.Publish(ctx, func(next, _ *Table) error {
		if err := next.load(source); err != nil {
			return err // next goes back to the pool, and readers keep the current table
		}
		return next.check()
	})
	return err
}

// A reload fills and checks. Readers keep the old table while the new source is
// broken.
func Example_reload() {
	ctx := context.Background()
	s := NewService()
	fmt.Println(s.reload(ctx, strings.NewReader("17 a.example\n")))
	fmt.Println(s.reload(ctx, strings.NewReader("17 b.example\nx c.example\n")))
	fmt.Println(s.reload(ctx, strings.NewReader("")))
	name, _ := s.lookup(nil, 17)
	fmt.Println(string(name))
	// Output:
	// <nil>
	// line 2: strconv.ParseUint: parsing "x": invalid syntax
	// the source has no rows
	// a.example
}

// copyFrom makes t a copy of other, which may be nil, in memory of its own.
func (t *Table) copyFrom(other *Table) {
	if other != nil {
		t.rows = append(t.rows[:0], other.rows...)
		t.names = append(t.names[:0], other.names...)
	}
}

func (t *Table) add(key uint32, name string) {
	begin := uint32(len(t.names))
	t.names = append(t.names, name...)
	t.rows = append(t.rows, Row{key, begin, uint32(len(t.names))})
}

func (s *Service) add(ctx context.Context, key uint32, name string) error {
	_, err := s.tables.Publish(ctx, func(next, current *Table) error {
		next.copyFrom(current) // the slabs are copied: next keeps no pointer into current
		next.add(key, name)
		return nil
	})
	return err
}

func (s *Service) addOrRetry(ctx context.Context, key uint32, name string) error {
	for {
		err := s.add(ctx, key, name)
		if !errors.Is(err, poolswap.ErrConflict) {
			return err
		}
	}
}

// Two writers build on the content of each other.
func Example_twoWriters() {
	ctx := context.Background()
	s := NewService()
	done := make(chan error)
	go func() { done <- s.add(ctx, 17, "a.example") }()
	go func() { done <- s.addOrRetry(ctx, 18, "b.example") }()
	fmt.Println(<-done, <-done)
	s.tables.WithAcquire(func(t *Table) { fmt.Println(len(t.rows), "rows") })
	// Output:
	// <nil> <nil>
	// 2 rows
}

type Index struct {
	poolswap.Ref
	of    uint64   // the version of the table
	order []uint32 // its keys, by name
}

func (x *Index) build(of uint64, t *Table) {
	x.of, x.order = of, x.order[:0]
	for i := range t.rows {
		x.order = append(x.order, t.rows[i].key)
	}
	slices.SortFunc(x.order, func(a, b uint32) int {
		return cmp.Compare(string(t.name(t.find(a))), string(t.name(t.find(b))))
	})
}

type Indexer struct {
	tables  *poolswap.Container[Table, *Table]
	indexes *poolswap.Container[Index, *Index]
}

func (x *Indexer) rebuild(ctx context.Context) error {
	_, err := x.indexes.Publish(ctx, func(next, _ *Index) error {
		t := x.tables.Acquire() // in fill, so that a later turn never has an older table
		if t == nil {
			return errNotLoaded
		}
		defer x.tables.Release(t)
		next.build(x.tables.VersionOf(t), t)
		return nil
	})
	return err
}

func (x *Indexer) follow(ctx context.Context) error {
	for version := uint64(0); ; {
		var err error
		if version, err = x.tables.Wait(ctx, version); err != nil {
			return err
		}
		if err := x.rebuild(ctx); err != nil && !errors.Is(err, errNotLoaded) {
			return err
		}
	}
}

func newIndexer(s *Service) *Indexer {
	pool := poolswap.NewPool(func() *Index { return new(Index) }, nil)
	return &Indexer{tables: s.tables, indexes: poolswap.NewEmptyContainer(pool)}
}

// A second container is derived from the first.
func Example_derived() {
	ctx := context.Background()
	s := NewService()
	x := newIndexer(s)
	followed := make(chan error)
	go func() { followed <- x.follow(ctx) }()

	_ = s.reload(ctx, strings.NewReader("17 b.example\n18 a.example\n"))
	_, _ = x.indexes.Wait(ctx, 0)
	x.indexes.WithAcquire(func(i *Index) { fmt.Println(i.order, "of the current table:", i.of == s.tables.Version()) })

	_ = s.tables.Close(ctx)
	fmt.Println(<-followed)
	// Output:
	// [18 17] of the current table: true
	// poolswap: the container or the pool is closed
}

func (s *Service) shutdown(ctx context.Context) error {
	err := s.pool.Close(ctx)
	var held *poolswap.HeldError
	if errors.As(err, &held) {
		log.Printf("%d tables of versions %d are held, for %v", held.Objects, held.Versions, held.Longest)
	}
	return err
}

// newServer returns a server that tells subscribers of each new version.
func (s *Service) newServer() *http.Server {
	feeds, endFeeds := context.WithCancel(context.Background())
	mux := http.NewServeMux()
	mux.HandleFunc("GET /changes", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		ctx, cancel := context.WithCancel(r.Context()) // ends when the subscriber leaves
		defer cancel()
		defer context.AfterFunc(feeds, cancel)() // and when Shutdown begins
		for version := uint64(0); ; {
			var err error
			if version, err = s.tables.Wait(ctx, version); err != nil {
				return
			}
			_, _ = fmt.Fprintf(w, "data: %d\n\n", version)
			_ = http.NewResponseController(w).Flush()
		}
	})
	server := &http.Server{Handler: mux}
	server.RegisterOnShutdown(endFeeds)
	return server
}

func (s *Service) stop(requests, readers context.Context, server *http.Server) error {
	err := server.Shutdown(requests) // ends the feeds, and waits for the handlers
	return errors.Join(err, s.shutdown(readers))
}

// At the end the pool is closed.
func Example_shutdown() {
	ctx := context.Background() // with a deadline, in a service
	s := NewService()
	_ = s.reload(ctx, strings.NewReader("17 a.example\n"))
	fmt.Println(s.shutdown(ctx))
	fmt.Println(s.reload(ctx, strings.NewReader("17 b.example\n")))
	_, err := s.lookup(nil, 17)
	fmt.Println(err)
	// Output:
	// <nil>
	// poolswap: the container or the pool is closed
	// no table is loaded yet
}
