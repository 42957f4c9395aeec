package typedpool

import (
	"bytes"
	"reflect"
	"unsafe"
)

// parked is what the sync.Pool of the debug build holds in place of an object:
// the object, scribbled over, and what it was before. The two live and die
// together: nothing outside the sync.Pool refers to a parked, so when the
// garbage collector empties the pool both go.
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

// unpark gives the object back as it was before park, unless somebody wrote to
// it in the meantime.
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

// spareBytes returns the unused capacity of a bytes.Buffer, which after Reset
// is all of it, and nothing of any other object.
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

// claimSlice and unclaimSlice know an array by its last element, which all
// slices of it have in common that keep its capacity.

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
