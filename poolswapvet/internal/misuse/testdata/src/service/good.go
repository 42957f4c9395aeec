package service

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/poolswap/poolswap"
)

func (s *server) rightOnce() int {
	t := s.c.Acquire()
	var once sync.Once
	release := func() { once.Do(func() { s.c.Release(t) }) }
	defer release()
	n := t.Size
	release()
	return n
}

func (s *server) rightFlag(host string) int {
	t := s.c.Acquire()
	released := false
	defer func() {
		if !released {
			s.c.Release(t)
		}
	}()
	n := t.Index[host]
	if n > 0 {
		s.c.Release(t)
		released = true
	}
	return n
}

func (s *server) rightNilled() int {
	t := s.c.Acquire()
	defer func() {
		if t != nil {
			s.c.Release(t)
		}
	}()
	n := t.Size
	if n > 3 {
		s.c.Release(t)
		t = nil
	}
	return n
}

func (s *server) rightPublish(ctx context.Context) error {
	_, err := s.c.Publish(ctx, func(next, current *Table) error {
		if current != nil {
			next.Size = current.Size + 1
		}
		next.Rows = append(next.Rows[:0], Row{})
		return nil
	})
	return err
}

func (s *server) rightPublishResult(ctx context.Context) (n int, err error) {
	_, err = s.c.Publish(ctx, func(next, current *Table) error {
		n = len(current.Rows)
		return nil
	})
	return n, err
}

func (s *server) rightWithRetainFirst() {
	s.c.WithAcquire(func(t *Table) {
		s.c.Retain(t)
		s.cur = t
	})
}

func (s *server) rightWithWait() {
	s.c.WithAcquire(func(t *Table) {
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(func() { fmt.Println(t.Size) })
		}
		wg.Wait()
	})
}

func (s *server) rightWithDone() {
	s.c.WithAcquire(func(t *Table) {
		done := make(chan bool)
		go func() { fmt.Println(t.Size); close(done) }()
		<-done
	})
}

func (s *server) rightWithClone(k string) (name string) {
	s.c.WithAcquire(func(t *Table) {
		v, _ := t.Names.Get(k)
		name = strings.Clone(v)
	})
	return name
}

func (s *server) rightWithCloneTwice(k string) (name string) {
	s.c.WithAcquire(func(t *Table) {
		name, _ = t.Names.Get(k)
		name = strings.Clone(name)
	})
	return name
}

func (s *server) rightVersions(ctx context.Context) {
	for v, t := range s.c.Versions(ctx) {
		fmt.Println(v, t.Size)
		if t.Size == 0 {
			return
		}
	}
}

func (s *server) rightVersionsRetain(ctx context.Context) {
	for _, t := range s.c.Versions(ctx) {
		s.cur = s.c.Retain(t)
		return
	}
}

func (s *server) rightSliceClone() []Row {
	t := s.c.Acquire()
	defer s.c.Release(t)
	return slices.Clone(t.Rows)
}

func (s *server) rightElement(i int) Row {
	t := s.c.Acquire()
	defer s.c.Release(t)
	return t.Rows[i]
}

func (s *server) rightLen() int {
	t := s.c.Acquire()
	rows := t.Rows
	s.c.Release(t)
	return len(rows)
}

func (s *server) rightSum() (n int) {
	t := s.c.Acquire()
	for i := range t.Rows {
		p := &t.Rows[i]
		n += p.Port
	}
	s.c.Release(t)
	return n
}

func (s *server) rightCopied(out []Row) []Row {
	t := s.c.Acquire()
	defer s.c.Release(t)
	return append(out, t.Rows...)
}

func (s *server) rightAgain() int {
	t := s.c.Acquire()
	n := t.Size
	s.c.Release(t)
	t = s.c.Acquire()
	n += t.Size
	s.c.Release(t)
	return n
}

func (s *server) rightSwap() {
	old := s.cur
	s.cur = s.c.Acquire()
	if old != nil {
		s.c.Release(old)
	}
}

func (s *server) rightReaderEach(hosts []string) {
	var wg sync.WaitGroup
	for _, h := range hosts {
		wg.Go(func() {
			r := s.c.NewReader()
			defer r.Close()
			fmt.Println(r.Load().Index[h])
		})
	}
	wg.Wait()
}

func (s *server) rightReaderMoved() {
	r := s.c.NewReader()
	go func() {
		defer r.Close()
		fmt.Println(r.Load().Size)
	}()
}

func (s *server) rightReaderSlice(n int) {
	readers := make([]*poolswap.Reader[Table], n)
	for i := range readers {
		readers[i] = s.c.NewReader()
	}
	for _, r := range readers {
		go func() {
			defer r.Close()
			fmt.Println(r.Load().Size)
		}()
	}
}

func (s *server) rightReaderThenAnother() int {
	r := s.c.NewReader()
	n := r.Load().Size
	n += r.Load().Size
	r.Close()
	return n
}

func (s *server) rightName(k string) string {
	t := s.c.Acquire()
	defer s.c.Release(t)
	name, _ := t.Names.Get(k)
	return strings.Clone(name)
}

func (s *server) rightNameLen(k string) int {
	t := s.c.Acquire()
	defer s.c.Release(t)
	name, _ := t.Names.Get(k)
	return len(name)
}

func (s *server) rightNameCompare(k string) bool {
	t := s.c.Acquire()
	defer s.c.Release(t)
	name, ok := t.Names.Get(k)
	return ok && name == s.last
}

func (s *server) rightNameMap(k string) int {
	t := s.c.Acquire()
	defer s.c.Release(t)
	name, _ := t.Names.Get(k)
	counts := map[string]int{}
	counts[name]++
	return counts[name]
}

func (s *server) rightKeys() (keys []string) {
	t := s.c.Acquire()
	defer s.c.Release(t)
	for k := range t.Hits.All() {
		keys = append(keys, strings.Clone(k))
	}
	return keys
}

func (s *server) rightGetOK() int {
	t, ok := s.GetOK()
	if !ok {
		return 0
	}
	defer s.Put(t)
	return t.Size
}

func (s *server) rightStruct() *holder {
	h := &holder{c: s.c}
	h.t = s.c.Acquire()
	return h
}

func (s *server) rightUpdateThenNew() int {
	next := s.Pool.Get()
	next.Size = 3
	n := next.Size
	s.c.Update(next)
	t := s.c.Acquire()
	defer s.c.Release(t)
	return n + t.Size
}

func (s *server) rightUpdateNilled(fail bool) (err error) {
	next := s.Pool.Get()
	defer func() {
		if next != nil {
			s.Pool.Release(next)
		}
	}()
	if fail {
		return errors.New("failed")
	}
	s.c.Update(next)
	next = nil
	return nil
}

func (s *server) rightGlobalCopy() {
	t := s.c.Acquire()
	defer s.c.Release(t)
	globalRows = append(globalRows[:0], t.Rows...)
}

func (s *server) rightRowOut(host string) (Row, bool) {
	t := s.c.Acquire()
	defer s.c.Release(t)
	row, ok := t.Find(host)
	if !ok {
		return Row{}, false
	}
	return *row, true
}

func (s *server) rightSortedKeys() {
	t := s.c.Acquire()
	defer s.c.Release(t)
	var keys []string
	for k := range t.Hits.All() {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	fmt.Println(keys)
}

func (s *server) rightCountedKeys() int {
	t := s.c.Acquire()
	defer s.c.Release(t)
	seen := map[string]bool{}
	for _, v := range t.Names.All() {
		seen[v] = true
	}
	return len(seen)
}

func (s *server) rightWithLocal() {
	s.c.WithAcquire(func(t *Table) {
		rows := t.Rows
		var all [][]Row
		all = append(all, rows)
		fmt.Println(all)
		local := map[string]*Table{}
		local["x"] = t
		fmt.Println(local)
	})
}

func (s *server) rightWithOuterUsedInside() {
	var seen map[string]int
	s.c.WithAcquire(func(t *Table) {
		seen = t.Index
		fmt.Println(seen)
		seen = nil
	})
}

func (s *server) rightReleaseInLoopAtEnd(hosts []string) {
	t := s.c.Acquire()
	for _, h := range hosts {
		if h == "" {
			s.c.Release(t)
			return
		}
	}
	s.c.Release(t)
}

func (s *server) rightReleasedOnce(hosts []string) {
	t := s.c.Acquire()
	released := false
	for _, h := range hosts {
		if h == "" && !released {
			s.c.Release(t)
			released = true
		}
	}
	if !released {
		s.c.Release(t)
	}
}

func (s *server) rightRetry(n int) {
	for range n {
		t := s.c.Acquire()
		if t.Size > 3 {
			s.c.Release(t)
			break
		}
		s.c.Release(t)
	}
}

func (s *server) rightMapDelete(held map[*Table]bool) {
	t := s.c.Acquire()
	held[t] = true
	s.c.Release(t)
	delete(held, t)
}

type holder struct {
	c *container
	t *Table
}
