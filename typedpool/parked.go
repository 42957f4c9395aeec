package typedpool

import (
	"bytes"
	"reflect"
	"unsafe"
)

// parked is the element of the sync.Pool in the debug build: an object that is
// scribbled over, and its saved contents. Nothing else refers to a parked, so the
// garbage collector frees both when it empties the pool.
type parked[T any] struct {
	object *T
	saved  T
}

func (p *Pool[T]) debugPut(x *T) {
	claim(x, reflect.TypeFor[*T]())
	if p.keep != nil && !p.keep(x) {
		return // the claim stays: to put a dropped object again is as wrong
	}
	p.pool.Put(park(x))
}

func (p *Pool[T]) debugGet() *T {
	switch v := p.pool.Get().(type) {
	case *parked[T]:
		return v.unpark()
	case *T:
		return v
	}
	return new(T)
}

func park[T any](x *T) *parked[T] {
	v := &parked[T]{object: x}
	scribble(spareBytes(x))
	if scribbleFor(reflect.TypeFor[T]()) != leaveAlone {
		v.saved = *x
		scribble(unsafe.Slice(x, 1))
	}
	return v
}

// unpark restores and returns the object. It panics if the object was written to
// since park.
func (v *parked[T]) unpark() *T {
	x := v.object
	at := unclaim(x)
	intact := scribbled(unsafe.Slice(x, 1))
	if scribbleFor(reflect.TypeFor[T]()) != leaveAlone {
		*x = v.saved
	}
	if !intact || !scribbled(spareBytes(x)) {
		panicChanged(reflect.TypeFor[*T](), at)
	}
	return x
}

// spareBytes returns the unused capacity of a bytes.Buffer (all of it after
// Reset), and nil for other types.
func spareBytes(x any) []byte {
	b, ok := x.(*bytes.Buffer)
	if !ok {
		return nil
	}
	spare := b.AvailableBuffer()
	return spare[:cap(spare)]
}

func panicChanged(t reflect.Type, at string) {
	panic("typedpool: Get of a " + t.String() + " that was written to after its Put at " + at + " (used after Put?)")
}

// claimSlice and unclaimSlice identify an array by its last element, which all
// slices of it with full capacity share.

func claimSlice[E any](s []E) { claim(&s[len(s)-1], reflect.TypeFor[[]E]()) }

func unclaimSlice[E any](s []E) {
	s = s[:cap(s)]
	if len(s) == 0 {
		return
	}
	if at := unclaim(&s[len(s)-1]); !scribbled(s) {
		panicChanged(reflect.TypeFor[[]E](), at)
	}
}
