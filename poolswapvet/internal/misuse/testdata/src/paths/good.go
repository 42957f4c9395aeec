package paths

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/poolswap/poolswap"
	"wrap"
)

type Table = wrap.Table

var (
	c      *poolswap.Container[Table, *Table]
	other  *poolswap.Container[Table, *Table]
	pool   *poolswap.Pool[Table, *Table]
	errBad = errors.New("bad")
)

func use(*Table) int { return 1 }

func onlyTheRelease() func() {
	t := c.Acquire()
	return func() { c.Release(t) }
}

func rowsAndRelease() ([]int, func(), error) {
	t := c.Acquire()
	if t == nil {
		return nil, nil, errBad
	}
	return t.Rows, func() { c.Release(t) }, nil
}

func namedRelease() (t *Table, release func()) {
	t = c.Acquire()
	release = func() { c.Release(t) }
	return
}

func orNothing() (*Table, func()) {
	t := c.Acquire()
	if t == nil {
		return nil, func() {}
	}
	return t, func() { c.Release(t) }
}

func usesOrNothing() int {
	t, release := orNothing()
	defer release()
	if t == nil {
		return 0
	}
	return t.Size
}

func usesNamed(ctx context.Context) int {
	t, release := namedRelease()
	if ctx.Err() != nil {
		release()
		return 0
	}
	n := t.Size
	release()
	return n
}

func comparisons(n int) {
	t := c.Acquire()
	if n > 10 {
		c.Release(t)
	}
	use(nil)
	if n <= 10 {
		c.Release(t)
	}
}

func lessOrNot(n int) {
	t := c.Acquire()
	if n < 10 {
		c.Release(t)
	}
	use(nil)
	if !(n < 10) {
		c.Release(t)
	}
}

func mirrored(n int) {
	t := c.Acquire()
	if 10 < n {
		c.Release(t)
	}
	use(nil)
	if n <= 10 {
		c.Release(t)
	}
}

func modes(mode int) int {
	var t *Table
	switch mode {
	case 1:
		t = c.Acquire()
	case 2:
	}
	fmt.Println(mode)
	switch mode {
	case 2:
		return 2
	case 1:
		c.Release(t)
	}
	return 0
}

func namedModes(mode string) int {
	t := c.Acquire()
	if mode == "a" {
		c.Release(t)
	}
	use(nil)
	if mode == "b" {
		c.Release(t)
		return 1
	}
	if mode != "a" {
		c.Release(t)
	}
	return 0
}

func found(names []string) int {
	t := c.Acquire()
	at := -1
	for i, name := range names {
		if name == "x" {
			at = i
			c.Release(t)
			break
		}
	}
	if at < 0 {
		c.Release(t)
	}
	return at
}

func action(names []string) string {
	t := c.Acquire()
	what := ""
	if len(names) > 3 {
		what = "drop"
		c.Release(t)
	}
	if what == "" {
		c.Release(t)
	}
	return what
}

func counted(names []string) int {
	t := c.Acquire()
	n := 0
	if len(names) > 3 {
		c.Release(t)
		n = 1
	}
	use(nil)
	if n != 1 {
		c.Release(t)
	}
	return n
}

func madeError(bad bool) (err error) {
	t := c.Acquire()
	if bad {
		err = errors.New("bad")
	} else {
		c.Release(t)
	}
	if err == nil {
		return nil
	}
	c.Release(t)
	return err
}

func wrappedError(bad bool) error {
	t := c.Acquire()
	var err error
	if bad {
		err = fmt.Errorf("bad: %w", errBad)
	}
	use(t)
	if bad && err == nil {
		return nil
	}
	c.Release(t)
	return err
}

func errorOfResult(read func() error) (err error) {
	next := pool.Get()
	defer func() {
		if err != nil {
			pool.Release(next)
		}
	}()
	if err = read(); err != nil {
		return err
	}
	if next.Size == 0 {
		return errBad
	}
	c.Update(next)
	return nil
}

func flagInLoop(names []string) (n int) {
	for _, name := range names {
		t := c.Acquire()
		keep := name == "x"
		if !keep {
			c.Release(t)
			continue
		}
		n += t.Size
		if keep {
			c.Release(t)
		}
	}
	return n
}

func retries(ctx context.Context) error {
	var next *Table
	var err error
	for range 3 {
		if next, err = pool.TryGet(); err == nil {
			break
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	if err != nil {
		return err
	}
	c.Update(next)
	return nil
}

func latest(ctx context.Context) {
	var last *Table
	for ctx.Err() == nil {
		t := c.Acquire()
		if last != nil {
			c.Release(last)
		}
		last = t
	}
	if last != nil {
		c.Release(last)
	}
}

func best(hosts []string) int {
	best := c.Acquire()
	for range hosts {
		t := other.Acquire()
		if t.Size > best.Size {
			t, best = best, t
		}
		c.Release(t)
	}
	defer c.Release(best)
	return best.Size
}

func either(a bool) int {
	var t *Table
	if a {
		t = c.Acquire()
	} else {
		t = other.Acquire()
	}
	n := t.Size
	if a {
		c.Release(t)
	} else {
		other.Release(t)
	}
	return n
}

func all(n int) (sum int) {
	var held []*Table
	for range n {
		held = append(held, c.Acquire())
	}
	for _, t := range held {
		sum += t.Size
		c.Release(t)
	}
	return sum
}

func replaced(ctx context.Context) int {
	t := c.Acquire()
	defer func() { c.Release(t) }()
	if t.Size == 0 {
		c.Release(t)
		t = c.Acquire()
	}
	return t.Size
}

func replacedAndKept(ctx context.Context) int {
	t := c.Acquire()
	defer func() { c.Release(t) }()
	if t.Size == 0 {
		old := t
		t = c.Acquire()
		n := t.Size - old.Size
		c.Release(old)
		return n
	}
	return t.Size
}

func again(f func(error)) {
	t := c.Acquire()
	defer func() {
		if e := recover(); e != nil {
			c.Release(t)
			panic(e)
		}
	}()
	if t.Size == 0 {
		panic(errBad)
	}
	c.Release(t)
}

type failure struct{ error }

func throws() (err error) {
	defer func() {
		if e := recover(); e != nil {
			f, ok := e.(failure)
			if !ok {
				panic(e)
			}
			err = f.error
		}
	}()
	t := c.Acquire()
	if t.Size == 0 {
		panic("never")
	}
	c.Release(t)
	return nil
}

func background(t *Table) {
	own := c.Retain(t)
	free := t.Size > 0
	go func() {
		if free {
			c.Release(own)
		}
	}()
	if !free {
		c.Release(own)
	}
}

func inGoroutine(jobs <-chan int) {
	t := c.Acquire()
	go func() {
		for range jobs {
			if use(t) == 0 {
				c.Release(t)
				return
			}
		}
		c.Release(t)
	}()
}

func waited() {
	t := c.Acquire()
	defer c.Release(t)
	var wg sync.WaitGroup
	for range 4 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			use(t)
		}()
	}
	wg.Wait()
}

type server struct {
	wg   sync.WaitGroup
	done chan struct{}
}

func (s *server) join()   { s.finish() }
func (s *server) finish() { s.wg.Wait() }

func (s *server) waitsDeep() {
	t := c.Acquire()
	defer c.Release(t)
	s.wg.Add(1)
	go func() { defer s.wg.Done(); use(t) }()
	s.join()
}

func waitsElsewhere(r *wrap.Runner) {
	t := c.Acquire()
	defer c.Release(t)
	go func() { r.Step(); use(t) }()
	r.Finish()
}

func deferredWait() {
	t := c.Acquire()
	defer c.Release(t)
	var wg sync.WaitGroup
	defer wg.Wait()
	wg.Go(func() { use(t) })
	wg.Add(1)
	go func() { defer wg.Done(); use(t) }()
}

func waitsForTheLast() {
	t := c.Acquire()
	defer c.Release(t)
	done := make(chan struct{})
	defer func() { <-done }()
	go func() { defer close(done); use(t) }()
}

func deferredInLoop(names []string) (sum int) {
	for range names {
		t := c.Acquire()
		defer c.Release(t)
		sum += t.Size
	}
	return sum
}

func untilStopped(ctx context.Context, in <-chan int) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-in:
			func() {
				t := c.Acquire()
				defer c.Release(t)
				use(t)
			}()
		}
	}
}

func once() int {
	for {
		t := c.Acquire()
		if t == nil {
			time.Sleep(1)
			continue
		}
		defer c.Release(t)
		return t.Size
	}
}

func sharedUnderMutex(mu *sync.Mutex, wg *sync.WaitGroup) {
	r := c.NewReader()
	for range 4 {
		wg.Go(func() {
			mu.Lock()
			defer mu.Unlock()
			use(r.Load())
			r.Park()
		})
	}
	wg.Wait()
	r.Close()
}

func oneAfterTheOther(wg *sync.WaitGroup) {
	r := c.NewReader()
	defer r.Close()
	wg.Go(func() { use(r.Load()) })
	wg.Wait()
	wg.Go(func() { use(r.Load()) })
	wg.Wait()
}

func oneOfTwo(b bool) {
	r := c.NewReader()
	defer r.Close()
	done := make(chan struct{})
	if b {
		go func() { use(r.Load()); close(done) }()
	} else {
		go func() { r.Load(); close(done) }()
	}
	<-done
}

func looksAt() int {
	t := pool.Get()
	c.Update(t)
	return pool.Refs(t)
}

func sameAddress() bool {
	t := pool.Get()
	pool.Release(t)
	again := pool.Get()
	defer pool.Release(again)
	return again == t
}

func fails(f *os.File) (t *Table, err error) {
	t = c.Acquire()
	if _, err = f.Stat(); err != nil {
		c.Release(t)
		return nil, err
	}
	return t, nil
}

func plain(bad bool) (*Table, error) {
	t := c.Acquire()
	if bad {
		c.Release(t)
		return nil, errBad
	}
	return t, nil
}

func twice() {
	t := c.Acquire()
	c.Retain(t)
	for range 2 {
		c.Release(t)
	}
}

func retainedFor(tables map[string]*Table) {
	t := c.Acquire()
	defer c.Release(t)
	tables["a"] = c.Retain(t)
}

func finder() func(string) int {
	t := c.Acquire()
	by := map[string]int{}
	for k, v := range t.By {
		by[k] = v
	}
	c.Release(t)
	return func(name string) int { return by[name] }
}

func finderHeld() func(string) int {
	t := c.Acquire()
	return func(name string) int { return t.By[name] }
}

func sorted(keys []string) (n int) {
	t := c.Acquire()
	for _, key := range keys {
		if t.By[key] == 0 {
			c.Release(t)
			t = c.Acquire()
		}
	}
	n = len(t.Rows)
	c.Release(t)
	return n
}

func fill(ctx context.Context) error {
	_, err := c.Publish(ctx, func(next, current *Table) error {
		next.Rows = append(next.Rows[:0], current.Rows...)
		rows := current.Rows
		next.Size = len(rows)
		return nil
	})
	return err
}

func deferredBefore() int {
	var t *Table
	defer func() {
		if t != nil {
			c.Release(t)
		}
	}()
	t = c.Acquire()
	return t.Size
}

func deferredLiteralInLoop(n int) (sum int) {
	for range n {
		t := c.Acquire()
		defer func() { c.Release(t) }()
		sum += t.Size
	}
	return sum
}

func failsByName(read func() error, fail func(error) error) (err error) {
	next := pool.Get()
	defer func() {
		if err != nil {
			pool.Release(next)
		}
	}()
	if err := read(); err != nil {
		return fail(err)
	}
	c.Update(next)
	return nil
}

func handedOver(keep func(*Table)) {
	t := c.Acquire()
	defer func() {
		if t != nil {
			c.Release(t)
		}
	}()
	if t.Size > 0 {
		keep(t)
		t = nil
	}
}

func stoppable() {
	t := c.Acquire()
	defer c.Release(t)
	timer := time.AfterFunc(time.Second, func() { use(t) })
	defer timer.Stop()
	use(t)
}

func timed() {
	own := c.Acquire()
	timer := time.AfterFunc(time.Second, func() { c.Release(own) })
	if timer.Stop() {
		c.Release(own)
	}
}

func sameFlag(share bool) {
	var own *Table
	if share {
		own = c.Acquire()
	}
	go func() {
		if share {
			c.Release(own)
		}
	}()
}

func goroutineKeeps(out chan *Table) {
	t := c.Acquire()
	go func() {
		if use(t) == 0 {
			out <- t
			return
		}
		c.Release(t)
	}()
}

func twin(*Table) *Table { return nil }

func counts(w *Table) int {
	obj := c.Acquire()
	if twin(obj) != w {
		c.Release(obj)
		return 1
	}
	if w != nil {
		c.Release(obj)
	}
	return 0
}

type tester interface{ Fatalf(string, ...any) }

func inTests(t tester, w *Table) {
	obj := c.Acquire()
	if twin(obj) != w {
		t.Fatalf("not %v", w)
	}
	if w != nil {
		c.Release(obj)
	}
}
