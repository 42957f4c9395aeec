package lost

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"

	"wrap"
)

func (s *service) deferred() int {
	t := s.c.Acquire()
	defer s.c.Release(t)
	return t.Size
}

func (s *service) nilFirst() int {
	t := s.c.Acquire()
	if t == nil {
		return 0
	}
	defer s.c.Release(t)
	return t.Size
}

func (s *service) everyBranch(n int) int {
	t := s.c.Acquire()
	if n > 0 {
		s.c.Release(t)
		return 1
	}
	s.c.Release(t)
	return 0
}

func (s *service) deferredLiteral() (n int) {
	t := s.c.Acquire()
	defer func() {
		if r := recover(); r != nil {
			n = -1
		}
		s.c.Release(t)
	}()
	return t.Size
}

func (s *service) compared() bool { return s.c.Acquire() == nil }

func (s *service) loop(hosts []string) (n int) {
	for range hosts {
		t := s.c.Acquire()
		if t.Size == 0 {
			s.c.Release(t)
			continue
		}
		n += t.Size
		s.c.Release(t)
	}
	return n
}

func (s *service) sameCondition(want bool) int {
	var t *Table
	if want {
		t = s.c.Acquire()
	}
	fmt.Println("between")
	if !want {
		return 0
	}
	defer s.c.Release(t)
	return t.Size
}

func (s *service) sameField() int {
	var t *Table
	if s.verbose {
		t = s.c.Acquire()
		fmt.Println(t.Size)
	}
	if s.verbose {
		s.c.Release(t)
	}
	return 0
}

func (s *service) flagged() int {
	t := s.c.Acquire()
	held := true
	defer func() {
		if held {
			s.c.Release(t)
		}
	}()
	if t.Size == 0 {
		s.c.Release(t)
		held = false
		return 0
	}
	return 1
}

type request struct{ table *Table }

func (s *service) stored(r *request) { r.table = s.c.Acquire() }

func (s *service) returned() *Table { return s.c.Acquire() }

func (s *service) returnedWithRelease() (*Table, func()) {
	t := s.c.Acquire()
	return t, func() { s.c.Release(t) }
}

func (s *service) sent(to chan *Table) { to <- s.c.Acquire() }

func (s *service) handed() {
	t := s.c.Acquire()
	go func() {
		defer s.c.Release(t)
		fmt.Println(t.Size)
	}()
}

func (s *service) unknown(use func(*Table)) {
	t := s.c.Acquire()
	use(t)
}

func (s *service) kept() { wrap.Keep(s.c.Acquire()) }

func (s *service) wrappedWell() int {
	t := s.tables.Current()
	defer s.tables.Done(t)
	return s.tables.Rows(t)
}

func (s *service) perhaps(really bool) {
	t := s.tables.Current()
	s.tables.DoneIf(t, really)
}

func (s *service) fatal() {
	t := s.c.Acquire()
	if t == nil {
		log.Fatal("empty")
	}
	if t.Size == 0 {
		os.Exit(1)
	}
	s.c.Release(t)
}

func (s *service) panics() int {
	t := s.c.Acquire()
	if t.Size == 0 {
		panic("empty")
	}
	n := t.Size
	s.c.Release(t)
	return n
}

func (s *service) published(ctx context.Context) error {
	next, err := s.pool.TryGet()
	if err != nil {
		return err
	}
	if ctx.Err() != nil {
		s.pool.Release(next)
		return ctx.Err()
	}
	s.c.Update(next)
	return nil
}

func (s *service) retainedForAnother(t *Table, done chan struct{}) {
	again := s.c.Retain(t)
	go func() {
		<-done
		s.c.Release(again)
	}()
}

func (s *service) retainedUnderTheOldName() {
	t := s.c.Acquire()
	s.c.Retain(t)
	s.c.Release(t)
	s.c.Release(t)
}

func (s *service) readers() int {
	r := s.c.NewReader()
	defer r.Close()
	return r.Load().Size
}

func (s *service) methodValue() int {
	t := s.c.Acquire()
	release := s.c.Release
	defer release(t)
	return t.Size
}

func (s *service) two() int {
	a, b := s.c.Acquire(), s.c.Acquire()
	defer s.c.Release(a)
	defer s.c.Release(b)
	return a.Size + b.Size
}

func (s *service) reassigned(n int) {
	t := s.c.Acquire()
	for range n {
		s.c.Release(t)
		t = s.c.Acquire()
	}
	s.c.Release(t)
}

func (s *service) continuesWithout(hosts []string) (sum int) {
	for _, host := range hosts {
		t := s.c.Acquire()
		if t == nil {
			continue
		}
		if host == "" {
			s.c.Release(t)
			continue
		}
		sum += t.Size
		s.c.Release(t)
	}
	return sum
}

func (s *service) triesUntil(n int) (sum int) {
	for range n {
		next, err := s.pool.TryGet()
		if err != nil {
			continue
		}
		sum += next.Size
		s.pool.Release(next)
	}
	return sum
}

var errFull = errors.New("full")

func (s *service) failures(log func(error) bool) error {
	next, err := s.pool.TryGet()
	if errors.Is(err, errFull) {
		return nil
	}
	if err == errFull || log(err) {
		return err
	}
	s.pool.Release(next)
	return nil
}

func (s *service) failsInTheResult() (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("failed: %w", err)
		}
	}()
	next, err := s.pool.TryGet()
	if err != nil {
		return err
	}
	s.pool.Release(next)
	return nil
}

func (s *service) otherwise(ok func(error) bool) error {
	next, err := s.pool.TryGet()
	if !ok(err) {
		return err
	}
	switch err {
	case nil:
		s.pool.Release(next)
	case errFull:
	}
	return nil
}

func (s *service) underAFlag(hosts []string) (sum int) {
	for _, host := range hosts {
		var t *Table
		named := host != ""
		if named {
			t = s.c.Acquire()
			sum += t.Size
		}
		if len(host) > 0 {
			s.c.Release(t)
		}
	}
	return sum
}

func (s *service) handedOn(hosts []string, out chan *Table) {
	for _, host := range hosts {
		t := s.c.Acquire()
		if host == "" {
			out <- t
			continue
		}
		s.c.Release(t)
	}
}

func (s *service) failsAndSkips(hosts []string) (sum int) {
	for _, host := range hosts {
		t := s.c.Acquire()
		failed := false
		if host == "" {
			s.c.Release(t)
			failed = true
		}
		if failed {
			continue
		}
		sum += t.Size
		s.c.Release(t)
	}
	return sum
}
