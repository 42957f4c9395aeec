package poolswap

import (
	"fmt"
	"reflect"
)

// offsetOfRef returns where in a T its Ref is. The rules of Go for promoted
// methods make it the shallowest embedded one, and the constraint [Object]
// makes it unique at that depth. NewPool panics where there is none but behind
// a pointer: several objects could share it.
func offsetOfRef[T any]() uintptr {
	type field struct {
		typ    reflect.Type
		offset uintptr
	}
	want := reflect.TypeFor[Ref]()
	for level := []field{{reflect.TypeFor[T](), 0}}; len(level) > 0; {
		var deeper []field
		for _, at := range level {
			if at.typ == want {
				return at.offset
			}
			if at.typ.Kind() != reflect.Struct {
				continue
			}
			for i := range at.typ.NumField() {
				if f := at.typ.Field(i); f.Anonymous {
					deeper = append(deeper, field{f.Type, at.offset + f.Offset})
				}
			}
		}
		level = deeper
	}
	panic(fmt.Sprintf("poolswap: NewPool of %v: it embeds poolswap.Ref by pointer; embed it by value", reflect.TypeFor[T]()))
}
