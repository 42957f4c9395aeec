package oldpool

import "sync/atomic"

// ring is a queue of fixed size with one owner, who pushes and pops at the head.
// Anybody pops at the tail. Head and tail are in one word, so that the owner and
// a thief that race for the last object are decided by one compare-and-swap.
type ring[T any] struct {
	ends  atomic.Uint64       // head<<32 | tail: positions, taken modulo the size
	slots []atomic.Pointer[T] // their number is a power of two
}

func (r *ring[T]) slot(position uint32) *atomic.Pointer[T] {
	return &r.slots[position&uint32(len(r.slots)-1)]
}

// pushHead reports false if the ring is full. Only the owner calls it.
func (r *ring[T]) pushHead(x *T) bool {
	ends := r.ends.Load()
	head, tail := uint32(ends>>32), uint32(ends)
	if head-tail == uint32(len(r.slots)) {
		return false
	}
	slot := r.slot(head)
	if slot.Load() != nil {
		return false // a thief has advanced the tail and not emptied the slot yet
	}
	slot.Store(x)
	r.ends.Add(1 << 32) // passes ownership of x to the goroutine that pops it
	return true
}

// popHead returns nil if the ring is empty. Only the owner calls it.
func (r *ring[T]) popHead() *T {
	for {
		ends := r.ends.Load()
		head, tail := uint32(ends>>32), uint32(ends)
		if head == tail {
			return nil
		}
		head--
		if r.ends.CompareAndSwap(ends, uint64(head)<<32|uint64(tail)) {
			return r.slot(head).Swap(nil)
		}
	}
}

// popTail returns nil if the ring is empty. Anybody may call it.
func (r *ring[T]) popTail() *T {
	for {
		ends := r.ends.Load()
		head, tail := uint32(ends>>32), uint32(ends)
		if head == tail {
			return nil
		}
		if r.ends.CompareAndSwap(ends, uint64(head)<<32|uint64(tail+1)) {
			return r.slot(tail).Swap(nil) // hands the slot back to the owner
		}
	}
}
