package paths

import (
	"context"
	"errors"
	"fmt"

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
