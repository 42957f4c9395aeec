package poolswap

import (
	"fmt"
	"reflect"
	"unsafe"

	"github.com/poolswap/poolswap/internal/refcount"
)

// Ref makes a type poolable: a type T whose values are to be swapped embeds it
// by value, by convention as the first field.
//
//	type Table struct {
//		poolswap.Ref
//		rows []row
//	}
//
// The zero Ref is ready for use. It belongs to the package: a program never
// reads, writes or copies it. A program never copies a T: go vet reports the
// copy, and the first operation on it off the fast path panics. A program never
// assigns to the whole of a T that is in use, as in *t = T{}: reset and Update
// panic. [NewPool] refuses a T that embeds Ref by pointer.
//
// Ref is four words in the object. Each object also has counters outside it,
// 128 bytes for each processor and 256 more, made when the object is first
// handed out or published.
type Ref struct {
	object refcount.Object
}

// ref is the method of the constraint [Object]: only a type that embeds Ref has
// it.
func (r *Ref) ref() *Ref { return r }

// Object is satisfied by *T for every T that embeds [Ref] by value. A call of
// [NewPool] infers it; a declaration names it, as the second parameter:
//
//	var tables *poolswap.Container[Table, *Table]
type Object[T any] interface {
	*T
	ref() *Ref
}

// The methods of Ref would find it in a T, but through a call that does not
// inline. So the offset of Ref in T is computed once for each pool, and these
// two add and subtract it. That is sound because a T that embeds Ref by value
// has it at the same offset always.

// engineObject returns the engine's part of obj, or nil for nil.
func engineObject[T any](obj *T, offset uintptr) *refcount.Object {
	if obj == nil {
		return nil
	}
	ref := (*Ref)(unsafe.Add(unsafe.Pointer(obj), offset))
	return &ref.object
}

// userObject returns the T that contains o, or nil for nil.
func userObject[T any](o *refcount.Object, offset uintptr) *T {
	if o == nil {
		return nil
	}
	return (*T)(unsafe.Add(unsafe.Pointer(o), -int(offset)))
}

// offsetOfRef returns the offset of Ref in T. By Go's rules for promoted
// methods it is the shallowest embedded one; the constraint [Object] makes sure
// that there is one, and one only at that depth. offsetOfRef panics if it is
// behind a pointer: several objects could share it.
func offsetOfRef[T any]() uintptr {
	type field struct {
		typ     reflect.Type
		offset  uintptr
		pointer bool // there is a pointer on the way, so offset leads nowhere
	}
	want := reflect.TypeFor[Ref]()
	level := []field{{typ: reflect.TypeFor[T]()}}
search:
	for len(level) > 0 {
		var deeper []field
		for _, at := range level {
			if at.typ.Kind() == reflect.Pointer {
				at.typ, at.pointer = at.typ.Elem(), true
			}
			if at.typ == want {
				if at.pointer {
					break search
				}
				return at.offset
			}
			if at.typ.Kind() != reflect.Struct {
				continue
			}
			for i := range at.typ.NumField() {
				if f := at.typ.Field(i); f.Anonymous {
					deeper = append(deeper, field{f.Type, at.offset + f.Offset, at.pointer})
				}
			}
		}
		level = deeper
	}
	panic(fmt.Sprintf("poolswap: NewPool of %v: it embeds poolswap.Ref by pointer; embed it by value", reflect.TypeFor[T]()))
}
