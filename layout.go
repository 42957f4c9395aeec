package poolswap

import (
	"fmt"
	"reflect"
)

// offsetOfRef returns where in a T its Ref is. The rules of Go for promoted
// methods make it the shallowest embedded one, and the constraint [Object]
// makes sure that there is one and that it is unique at that depth. NewPool
// panics if it is behind a pointer: several objects could share it.
func offsetOfRef[T any]() uintptr {
	type field struct {
		typ     reflect.Type
		offset  uintptr
		pointer bool // offset leads nowhere: there is a pointer on the way
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
