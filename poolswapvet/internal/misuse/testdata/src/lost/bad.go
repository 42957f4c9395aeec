package lost

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/poolswap/poolswap"
	"wrap"
)

type Table = wrap.Table

type service struct {
	c       *poolswap.Container[Table, *Table]
	pool    *poolswap.Pool[Table, *Table]
	tables  *wrap.Tables
	verbose bool
}

func (s *service) notAtAll() int {
	t := s.c.Acquire() // want `the result of Acquire is not released on the path to the return`
	return t.Size
}

func (s *service) endsWithout() {
	t := s.c.Acquire() // want `the result of Acquire is not released before the function ends|not released on the path`
	fmt.Println(t.Size)
}

func (s *service) dropped() {
	s.c.Acquire() // want `the result of Acquire is not used, so it is never released`
}

func (s *service) earlyReturn(host string) int {
	t := s.c.Acquire() // want `the result of Acquire is not released on the path to the return`
	if host == "" {
		return 0
	}
	n := t.Size
	s.c.Release(t)
	return n
}

func (s *service) errorPath(ctx context.Context) error {
	t := s.c.Acquire() // want `the path to the return`
	if err := ctx.Err(); err != nil {
		return err
	}
	fmt.Println(t.Size)
	s.c.Release(t)
	return nil
}

func (s *service) deferTooLate(host string) int {
	t := s.c.Acquire() // want `the path to the return`
	if host == "" {
		return 0
	}
	defer s.c.Release(t)
	return t.Size
}

func (s *service) oneCase(n int) int {
	t := s.c.Acquire() // want `the path to the return`
	switch n {
	case 1:
		s.c.Release(t)
		return 1
	case 2:
		return 2
	}
	s.c.Release(t)
	return 0
}

func (s *service) selected(ctx context.Context, done chan int) int {
	t := s.c.Acquire() // want `the path to the return`
	select {
	case <-ctx.Done():
		return 0
	case n := <-done:
		s.c.Release(t)
		return n
	}
}

func (s *service) insideLoop(hosts []string) int {
	t := s.c.Acquire() // want `the path to the return`
	for _, host := range hosts {
		if host == "" {
			return -1
		}
	}
	s.c.Release(t)
	return 0
}

func (s *service) continues(hosts []string) (sum int) {
	for _, host := range hosts {
		t := s.c.Acquire() // want `the result of Acquire is not released before the loop takes the next|the path to the return`
		if host == "" {
			continue
		}
		sum += t.Size
		s.c.Release(t)
	}
	return sum
}

func (s *service) continuesOuter(hosts [][]string) (sum int) {
outer:
	for _, names := range hosts {
		t := s.c.Acquire() // want `before the loop takes the next|the path to the return`
		for _, name := range names {
			if name == "" {
				continue outer
			}
		}
		sum += t.Size
		s.c.Release(t)
	}
	return sum
}

func (s *service) breaks(hosts []string) (sum int) {
	for _, host := range hosts {
		t := s.c.Acquire() // want `the path to the return`
		if host == "" {
			break
		}
		sum += t.Size
		s.c.Release(t)
	}
	return sum
}

func (s *service) polls(ctx context.Context, names <-chan string) {
	for {
		select {
		case <-ctx.Done():
			return
		case name := <-names:
			t := s.c.Acquire() // want `before the loop takes the next`
			if name == "" {
				break
			}
			fmt.Println(t.Size)
			s.c.Release(t)
		}
	}
}

func (s *service) twoWays(hosts []string) (sum int) {
	for _, host := range hosts {
		t := s.c.Acquire() // want `before the loop takes the next|the path to the return`
		if host == "" {
			s.c.Release(t)
			continue
		}
		if host == "." {
			continue
		}
		sum += t.Size
		s.c.Release(t)
	}
	return sum
}

func (s *service) jumps(n int) int {
	t := s.c.Acquire() // want `the path to the return`
	if n > 0 {
		goto out
	}
	s.c.Release(t)
	return 0
out:
	return 1
}

func (s *service) unpublished(fail bool) error {
	next := s.pool.Get() // want `the result of Get is not published or released on the path to the return`
	if fail {
		return errors.New("failed")
	}
	s.c.Update(next)
	return nil
}

func (s *service) tried(fail bool) error {
	next, err := s.pool.TryGet() // want `the result of TryGet is not published or released on the path to the return`
	if err != nil {
		return err
	}
	if fail {
		return errors.New("failed")
	}
	s.c.Update(next)
	return nil
}

func (s *service) triedAndNamed(fail bool) error {
	next, err := s.pool.TryGet() // want `the result of TryGet is not published or released on the path to the return`
	if errors.Is(err, context.Canceled) {
		return nil
	}
	if err != nil {
		return err
	}
	if fail {
		return errors.New("failed")
	}
	s.c.Update(next)
	return nil
}

func (s *service) failsLater(read func(*os.File) error) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("failed: %w", err)
		}
	}()
	next, err := s.pool.TryGet() // want `the path to the return in line`
	if err != nil {
		return err
	}
	if err = read(nil); err != nil {
		return err
	}
	s.pool.Release(next)
	return nil
}

func (s *service) retained(t *Table) int {
	again := s.c.Retain(t) // want `the result of Retain is not released`
	return again.Size
}

func (s *service) readerLeftOpen() int {
	r := s.c.NewReader() // want `the result of NewReader is not closed`
	return r.Load().Size
}

func (s *service) wrapped(host string) int {
	t := s.tables.Current() // want `the result of Current is not released on the path to the return`
	if host == "" {
		return 0
	}
	defer s.tables.Done(t)
	return t.Size
}

func (s *service) lentOnly() int {
	t := s.tables.Current() // want `the result of Current is not released`
	return s.tables.Rows(t)
}

func (s *service) literal() func(string) int {
	return func(host string) int {
		t := s.c.Acquire() // want `the path to the return`
		if host == "" {
			return 0
		}
		defer s.c.Release(t)
		return t.Size
	}
}

func generic[T any, P poolswap.Object[T]](c *poolswap.Container[T, P], fail bool) error {
	obj := c.Acquire() // want `the path to the return`
	if fail {
		return errors.New("failed")
	}
	c.Release(obj)
	return nil
}
