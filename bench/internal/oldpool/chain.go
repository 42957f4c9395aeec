package oldpool

import "sync/atomic"

const firstRing = 8

// chain is a queue of any size: rings of 8, 16, 32 and so on. Its owner pushes
// and pops in the newest ring, anybody pops in the oldest. A ring that is empty
// and is not the newest is dropped from the tail.
type chain[T any] struct {
	head *link[T]                // the newest; the owner's alone
	tail atomic.Pointer[link[T]] // the oldest
}

type link[T any] struct {
	ring[T]
	newer atomic.Pointer[link[T]] // set once, by the owner
	older atomic.Pointer[link[T]] // cleared when the older one is dropped
}

func newLink[T any](size int) *link[T] {
	return &link[T]{ring: ring[T]{slots: make([]atomic.Pointer[T], size)}}
}

// pushHead adds x. Only the owner calls it.
func (c *chain[T]) pushHead(x *T) {
	head := c.head
	if head == nil {
		head = newLink[T](firstRing)
		c.head = head
		c.tail.Store(head)
	}
	if head.pushHead(x) {
		return
	}
	newest := newLink[T](2 * len(head.slots))
	newest.older.Store(head)
	newest.pushHead(x)
	c.head = newest
	head.newer.Store(newest) // from here on thieves may leave the old ring
}

// popHead takes what was added last, or returns nil. Only the owner calls it.
func (c *chain[T]) popHead() *T {
	for l := c.head; l != nil; l = l.older.Load() {
		if x := l.popHead(); x != nil {
			return x
		}
	}
	return nil
}

// popTail takes what was added first, or returns nil.
func (c *chain[T]) popTail() *T {
	l := c.tail.Load()
	for l != nil {
		// In this order: if there is a newer ring, then no goroutine pushes to this
		// one any more, and if it is empty after that it stays so.
		newer := l.newer.Load()
		if x := l.popTail(); x != nil {
			return x
		}
		if newer == nil {
			return nil
		}
		if c.tail.CompareAndSwap(l, newer) {
			newer.older.Store(nil) // the owner need not look there again
		}
		l = newer
	}
	return nil
}
