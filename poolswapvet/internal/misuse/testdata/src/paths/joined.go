package paths

import "sync/atomic"

func bothFlags(x, y bool) {
	t := c.Acquire()
	a := x && y
	if a {
		c.Release(t)
	}
	use(nil)
	if !x || !y {
		c.Release(t)
	}
}

func atLeastOne(names []string) int {
	if len(names) == 0 {
		return 0
	}
	t := c.Acquire()
	for i := range names {
		if i == 0 {
			c.Release(t)
		}
	}
	return 1
}

func kinds(v any) int {
	t := c.Acquire()
	if _, ok := v.(int); ok {
		c.Release(t)
	}
	use(nil)
	if _, ok := v.(int); !ok {
		c.Release(t)
	}
	return 0
}

func inMap(m map[string]bool) {
	t := c.Acquire()
	if _, ok := m["a"]; ok {
		c.Release(t)
	}
	use(nil)
	if _, ok := m["a"]; !ok {
		c.Release(t)
	}
}

type options struct{ verbose, quiet bool }

func (o *options) isVerbose() bool { return o.verbose && true }
func (o options) loud() bool       { return !o.quiet }

func getters(o *options) {
	var t *Table
	if o.isVerbose() {
		t = c.Acquire()
	}
	use(t)
	if o.isVerbose() {
		c.Release(t)
	}
}

func getterOfCopy(o options) {
	t := c.Acquire()
	if o.loud() {
		c.Release(t)
	}
	if !o.loud() {
		c.Release(t)
	}
}

func orTheOther() int {
	t := c.Acquire()
	if t == nil {
		t = other.Acquire()
	}
	if t == nil {
		return 0
	}
	defer c.Release(t)
	return t.Size
}

func get() (*Table, bool) {
	t := c.Acquire()
	return t, t != nil
}

func getOrGet() int {
	t, ok := get()
	if !ok {
		t, ok = get()
	}
	if !ok {
		return 0
	}
	n := t.Size
	c.Release(t)
	return n
}

func newer(in <-chan int) {
	t := c.Acquire()
	for range in {
		next := c.Acquire()
		if next.Size == t.Size {
			c.Release(next)
			continue
		}
		c.Release(t)
		t = next
	}
	c.Release(t)
}

func newerInVariable() int {
	t := c.Acquire()
	defer func() { c.Release(t) }()
	if t.Size == 0 {
		next := c.Acquire()
		c.Release(t)
		t = next
	}
	return t.Size
}

func neverReturns() {
	t := c.Acquire()
	defer c.Release(t)
	go use(t)
	var n atomic.Int64
	for {
		n.Add(1)
	}
}

func endless() {
	t := c.Acquire()
	defer c.Release(t)
	go use(t)
	for {
		use(nil)
	}
}

func manyReferences() {
	t := c.Acquire()
	c.Retain(t)
	for range 2 {
		defer c.Release(t)
	}
}

func asyncOrNot(async bool) {
	t := c.Acquire()
	if async {
		go func() {
			defer c.Release(t)
			use(t)
		}()
		return
	}
	use(t)
	c.Release(t)
}

func retainedArgument() {
	t := c.Acquire()
	defer c.Release(t)
	go func(own *Table) {
		defer c.Release(own)
		use(own)
	}(c.Retain(t))
}

func (l *list) all() []int { return l.rows }

func (l *list) copied() []int {
	if l.rows == nil {
		return nil
	}
	return append([]int(nil), l.rows...)
}

func counted2() (n int) {
	l := lists.Acquire()
	rows := l.all()
	for _, row := range rows {
		n += row
	}
	lists.Release(l)
	return n + len(rows)
}

func copies() []int {
	l := lists.Acquire()
	defer lists.Release(l)
	return l.copied()
}

func releaseLater(cleanup func(func())) *Table {
	t, release := namedRelease()
	cleanup(release)
	return t
}

func releaseInLiteral() int {
	t, release := namedRelease()
	defer func() { release() }()
	return t.Size
}

func releaseIfAny() int {
	t, release := orNothing()
	if release != nil {
		defer release()
	}
	return t.Size
}

func passesRelease() ([]int, func()) {
	t, release := namedRelease()
	return t.Rows, release
}
