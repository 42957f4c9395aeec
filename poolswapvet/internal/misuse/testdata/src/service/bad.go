package service

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"
)

func (s *server) wrongTwoDefers() int {
	t := s.c.Acquire()
	defer s.c.Release(t)
	defer func() { s.c.Release(t) }() // want `a function literal with a Release of an object that the call`
	return t.Size
}

func (s *server) wrongUpdateDefer(n int) {
	next := s.Pool.Get()
	defer s.Pool.Release(next) // want `deferred Release of an object that the Update`
	next.Size = n
	s.c.Update(next)
}

func (s *server) wrongElementPointer(i int) *Row {
	t := s.c.Acquire()
	defer s.c.Release(t)
	return &t.Rows[i] // want `a pointer out of an object is returned, and the deferred Release`
}

func (s *server) wrongNestedSlice(i int) []string {
	t := s.c.Acquire()
	defer s.c.Release(t)
	return t.Rows[i].Tags // want `a slice out of an object is returned, and the deferred Release`
}

func (s *server) wrongEncodeAfter(w io.Writer) error {
	t := s.c.Acquire()
	rows := t.Rows
	s.c.Release(t)
	return json.NewEncoder(w).Encode(rows) // want `a slice out of an object is used after the Release of its object`
}

func (s *server) wrongGlobalRows() {
	t := s.c.Acquire()
	defer s.c.Release(t)
	globalRows = t.Rows // want `a slice out of an object is stored beyond the deferred Release`
}

func (s *server) wrongUpdateTwice() {
	next := s.Pool.Get()
	s.c.Update(next)
	s.c.Update(next) // want `Update of an object that the Update`
}

func (s *server) wrongKeptGo() {
	s.c.WithAcquire(func(t *Table) {
		go func() { fmt.Println(t.Size) }() // want `a goroutine has the object of the function of WithAcquire`
	})
}

func (s *server) wrongKeptAppend() {
	s.c.WithAcquire(func(t *Table) { s.Seen = append(s.Seen, t) }) // want `the function of WithAcquire keeps its object`
}

func (s *server) wrongKeptVersions(ctx context.Context) {
	for _, t := range s.c.Versions(ctx) {
		s.cur = t // want `the body of a loop over Versions keeps its object`
	}
}

func (s *server) wrongReaderField() {
	r := s.c.NewReader()
	defer r.Close()
	s.cur = r.Load() // want `an object of a Reader is kept: it is valid until the next Load, Park or Close`
}

func (s *server) wrongReaderAfterClose() int {
	r := s.c.NewReader()
	t := r.Load()
	r.Close()
	return t.Size // want `an object of a Reader is used after Close`
}

func (s *server) wrongReaderTwoLoads() int {
	r := s.c.NewReader()
	defer r.Close()
	old := r.Load()
	new := r.Load()
	return new.Size - old.Size // want `an object of a Reader is used after Load`
}

func (s *server) wrongReaderGo(hosts []string) {
	r := s.c.NewReader()
	defer r.Close()
	var wg sync.WaitGroup
	for _, h := range hosts {
		wg.Go(func() { fmt.Println(r.Load().Index[h]) }) // want `goroutines that are started in a loop share the Reader`
	}
	wg.Wait()
}

func (s *server) wrongReaderBoth() int {
	r := s.c.NewReader()
	defer r.Close()
	go func() { fmt.Println(r.Load().Size) }() // want `a goroutine and its starter share the Reader`
	return r.Load().Size
}

func (s *server) wrongNameCache(k string) {
	t := s.c.Acquire()
	defer s.c.Release(t)
	name, _ := t.Names.Get(k)
	s.cache[k] = name // want `a string of a slab is stored beyond the deferred Release`
}

func (s *server) wrongNameChannel(k string) {
	t := s.c.Acquire()
	defer s.c.Release(t)
	if name, ok := t.Names.Get(k); ok {
		s.names <- name // want `a string of a slab is stored beyond the deferred Release`
	}
}

func (s *server) wrongNameLater(k string) {
	t := s.c.Acquire()
	name, _ := t.Names.Get(k)
	s.c.Release(t)
	fmt.Println(name) // want `a string of a slab is used after the Release of its object`
}

func (s *server) wrongKeys() (keys []string) {
	t := s.c.Acquire()
	defer s.c.Release(t)
	for k := range t.Hits.All() {
		keys = append(keys, k) // want `a string of a slab is kept beyond the Release of its object`
	}
	return keys
}

func (s *server) wrongNameWith(k string) (name string) {
	s.c.WithAcquire(func(t *Table) { name, _ = t.Names.Get(k) }) // want `a string of a slab is kept beyond the function of WithAcquire`
	return name
}

func (s *server) wrongNameTrim(k string) string {
	t := s.c.Acquire()
	defer s.c.Release(t)
	name, _ := t.Names.Get(k)
	return strings.TrimSpace(name) // want `a string of a slab is returned, and the deferred Release`
}

func (s *server) wrongNameSlice(k string) string {
	t := s.c.Acquire()
	defer s.c.Release(t)
	name, _ := t.Names.Get(k)
	return name[1:] // want `a string of a slab is returned, and the deferred Release`
}

func (s *server) wrongNameRow(k string) Row {
	t := s.c.Acquire()
	defer s.c.Release(t)
	name, _ := t.Names.Get(k)
	return Row{Host: name} // want `a string of a slab is returned, and the deferred Release`
}

func (a *api) wrongErrorsJoin(rs []io.Reader) (err error) {
	t := a.tables.Acquire() // want `the result of Acquire is not released on the path to the return`
	for _, r := range rs {
		_, e := io.Copy(io.Discard, r)
		err = errors.Join(err, e)
	}
	if err != nil {
		return err
	}
	a.hits.Add(int64(t.Size))
	a.tables.Release(t)
	return nil
}

func (a *api) wrongReleaseInLoop(hosts []string) {
	t := a.tables.Acquire() // want `the result of Acquire is not released before the function ends`
	for range hosts {
		a.hits.Add(int64(t.Size))
		a.tables.Release(t) // want `a loop releases an object that was taken once again and again`
	}
}

func (a *api) wrongIfThenAlways(ok bool) {
	t := a.tables.Acquire()
	n := t.Size
	if ok {
		a.hits.Add(int64(n))
		a.tables.Release(t)
	}
	a.tables.Release(t) // want `Release of an object that the call`
}

func (a *api) wrongCloseOverDefer(h string) (err error) {
	t := a.tables.Acquire()
	defer func() {
		a.tables.Release(t)
	}()
	if h == "" {
		a.tables.Release(t) // want `Release of an object that the call`
		return errors.New("empty")
	}
	return nil
}

func (s *server) wrongPutTwice(t *Table) {
	s.Put(t)
	s.Put(t) // want `Put of an object that the call`
}

func (a *api) wrongWithRelease() {
	a.tables.WithAcquire(func(t *Table) {
		defer a.tables.Release(t) // want `the function of WithAcquire releases an object that it does not hold: WithAcquire does`
		a.hits.Add(int64(t.Size))
	})
}

func (a *api) wrongVersionsRelease(ctx context.Context) {
	for _, t := range a.tables.Versions(ctx) {
		a.hits.Add(int64(t.Size))
		a.tables.Release(t) // want `the body of a loop over Versions releases an object that it does not hold: Versions does`
	}
}

func (a *api) wrongFirst() *Row {
	t := a.tables.Acquire()
	row := &t.Rows[0]
	a.tables.Release(t)
	return row // want `a pointer out of an object is used after the Release of its object`
}

func (a *api) wrongFirstPort() int {
	t := a.tables.Acquire()
	row := &t.Rows[0]
	a.tables.Release(t)
	return row.Port // want `a pointer out of an object is used after the Release of its object`
}

func (a *api) wrongTags(i int) string {
	t := a.tables.Acquire()
	tags := t.Rows[i].Tags
	a.tables.Release(t)
	return strings.Join(tags, ",") // want `a slice out of an object is used after the Release of its object`
}

func (a *api) wrongKeepTop() {
	t := a.tables.Acquire()
	defer a.tables.Release(t)
	a.top = t.Rows // want `a slice out of an object is stored beyond the deferred Release`
}

func (a *api) wrongKeepTopSlice() {
	t := a.tables.Acquire()
	a.top = t.Rows[:10] // want `a slice out of an object is stored beyond the Release`
	a.tables.Release(t)
}

func (a *api) wrongKeepBest() {
	t := a.tables.Acquire()
	defer a.tables.Release(t)
	a.best = &t.Rows[0] // want `a pointer out of an object is stored beyond the deferred Release`
}

func (a *api) wrongDeferThenStructRow() (r struct{ Tags []string }) {
	t := a.tables.Acquire()
	defer a.tables.Release(t)
	r.Tags = t.Rows[0].Tags // want `a slice out of an object is returned, and the deferred Release`
	return r
}

func (a *api) wrongVersionAfter() uint64 {
	t := a.tables.Acquire()
	a.tables.Release(t)
	return a.tables.VersionOf(t) // want `an object is used after its Release`
}

func (a *api) wrongRetainAfter() *Table {
	t := a.tables.Acquire()
	a.tables.Release(t)
	return a.tables.Retain(t) // want `Retain of an object after its Release`
}

func (a *api) wrongReturnReleased() *Table {
	t := a.tables.Acquire()
	defer a.tables.Release(t)
	return t // want `an object is returned after its Release`
}

func (a *api) wrongReturnReleasedNow() *Table {
	t := a.tables.Acquire()
	a.tables.Release(t)
	return t // want `an object is returned after its Release`
}

func (a *api) wrongPublishedTwo(other *container) {
	next := a.pool.Get()
	a.tables.Update(next)
	other.Update(next) // want `Update of an object that the Update`
}

func (a *api) wrongWithMemo(k string) {
	a.tables.WithAcquire(func(t *Table) { a.memo.Store(k, t) }) // want `the function of WithAcquire keeps its object`
}

func (a *api) wrongWithRows() (rows []Row) {
	a.tables.WithAcquire(func(t *Table) { rows = t.Rows }) // want `the function of WithAcquire keeps a slice out of its object`
	return rows
}

func (a *api) wrongWithRow() {
	a.tables.WithAcquire(func(t *Table) { a.best = &t.Rows[0] }) // want `the function of WithAcquire keeps a pointer out of its object`
}

func (a *api) wrongWithIndex() (m map[string]int) {
	a.tables.WithAcquire(func(t *Table) { m = t.Index }) // want `the function of WithAcquire keeps a map out of its object`
	return m
}

func (a *api) wrongWithTimer() {
	a.tables.WithAcquire(func(t *Table) {
		time.AfterFunc(time.Second, func() { fmt.Println(t.Size) }) // want `a goroutine has the object of the function of WithAcquire`
	})
}

func (a *api) wrongWithGo() {
	a.tables.WithAcquire(func(t *Table) {
		go a.hits.Add(int64(count(t)))
		go func() { a.hits.Add(int64(t.Size)) }() // want `a goroutine has the object of the function of WithAcquire`
	})
}

func (a *api) wrongVersionsLast(ctx context.Context) *Table {
	var last *Table
	for _, t := range a.tables.Versions(ctx) {
		last = t // want `the body of a loop over Versions keeps its object`
		if t.Size > 3 {
			break
		}
	}
	return last
}

func (a *api) wrongVersionsAppend(ctx context.Context) (all []*Table) {
	for _, t := range a.tables.Versions(ctx) {
		all = append(all, t) // want `the body of a loop over Versions keeps its object`
		if len(all) == 3 {
			break
		}
	}
	return all
}

func (a *api) wrongVersionsRows(ctx context.Context) {
	for _, t := range a.tables.Versions(ctx) {
		a.top = t.Rows // want `the body of a loop over Versions keeps a slice out of its object`
	}
}

func (a *api) wrongLoadKept() {
	t := a.reader.Load()
	a.queue <- t // want `an object of a Reader is kept: it is valid until the next Load, Park or Close`
}

func (a *api) wrongLoadClosed() []Row {
	r := a.tables.NewReader()
	rows := r.Load().Rows
	r.Close()
	return rows // want `a slice out of an object is used after the Close of its object`
}

func (a *api) wrongLoadDeferred() []Row {
	r := a.tables.NewReader()
	defer r.Close()
	return r.Load().Rows // want `a slice out of an object is returned, and the deferred Close`
}

func (a *api) wrongLoadParked() int {
	r := a.tables.NewReader()
	defer r.Close()
	t := r.Load()
	r.Park()
	return t.Size // want `an object of a Reader is used after Park`
}

func (a *api) wrongHandlerReader() http.HandlerFunc {
	r := a.tables.NewReader()
	return func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, r.Load().Size) } // want `a handler loads from a Reader that requests share: each goroutine needs one of its own`
}

func (a *api) wrongFieldReaderHandler(w http.ResponseWriter, _ *http.Request) {
	fmt.Fprint(w, a.reader.Load().Size) // want `a handler loads from a Reader that requests share: each goroutine needs one of its own`
}

func (a *api) wrongLabels(keys []string) {
	t := a.tables.Acquire()
	defer a.tables.Release(t)
	for _, k := range keys {
		v, _ := t.Names.Get(k)
		a.labels = append(a.labels, v) // want `a string of a slab is stored beyond the deferred Release`
	}
}

func (a *api) wrongLabelsLocal(keys []string) (out []string) {
	t := a.tables.Acquire()
	defer a.tables.Release(t)
	for _, k := range keys {
		v, _ := t.Names.Get(k)
		out = append(out, v) // want `a string of a slab is returned, and the deferred Release`
	}
	return out
}

func (a *api) wrongNamesMap() map[string]string {
	t := a.tables.Acquire()
	defer a.tables.Release(t)
	m := make(map[string]string)
	for k, v := range t.Names.All() {
		m[k] = v // want `a string of a slab is kept beyond the Release of its object`
	}
	return m
}

func (a *api) wrongNameCompareLater(k string) bool {
	t := a.tables.Acquire()
	v, _ := t.Names.Get(k)
	a.tables.Release(t)
	return v == k // want `a string of a slab is used after the Release of its object`
}

func (a *api) wrongNameMemo(k string) {
	t := a.tables.Acquire()
	defer a.tables.Release(t)
	v, _ := t.Names.Get(k)
	a.memo.Store(k, v) // want `a string of a slab is stored beyond the deferred Release`
}

func (a *api) wrongNameConcat(k string) string {
	t := a.tables.Acquire()
	v, _ := t.Names.Get(k)
	a.tables.Release(t)
	return "name: " + v // want `a string of a slab is used after the Release of its object`
}

func (a *api) wrongVersionsName(ctx context.Context, k string) (out string) {
	for _, t := range a.tables.Versions(ctx) {
		out, _ = t.Names.Get(k) // want `a string of a slab is kept beyond the body of a loop over Versions`
		break
	}
	return out
}

func (a *api) wrongReaderName(k string) string {
	r := a.tables.NewReader()
	defer r.Close()
	v, _ := r.Load().Names.Get(k)
	return v // want `a string of a slab is returned, and the deferred Close`
}
