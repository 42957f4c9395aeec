package typedpool

import (
	"reflect"
	"sync"
	"unsafe"
)

// A scribbling is a way to overwrite memory in the pool, so that a read after Put
// returns obviously wrong values.
type scribbling int

const (
	// leaveAlone is for types that go vet forbids to copy. They hold locks or
	// atomics, and scribbling copies the object away and back.
	leaveAlone scribbling = iota

	// zero is for types with pointers, which the garbage collector follows, and
	// with bools, which the compiler assumes to be 0 or 1.
	zero

	// pattern is for types made of numbers, for which any bits are valid.
	pattern
)

// patternByte makes odd negative numbers and invalid UTF-8.
const patternByte = 0xdb

func scribbleFor(t reflect.Type) scribbling {
	switch {
	case !every(t, copyable):
		return leaveAlone
	case every(t, numeric):
		return pattern
	}
	return zero
}

// scribble writes over the elements of s.
func scribble[E any](s []E) {
	switch scribbleFor(reflect.TypeFor[E]()) {
	case zero:
		clear(s)
	case pattern:
		b := bytesOf(s)
		for i := range b {
			b[i] = patternByte
		}
	}
}

// scribbled reports whether the elements of s are as scribble left them.
func scribbled[E any](s []E) bool {
	switch scribbleFor(reflect.TypeFor[E]()) {
	case zero:
		for i := range s {
			if !reflect.ValueOf(&s[i]).Elem().IsZero() {
				return false
			}
		}
	case pattern:
		for _, b := range bytesOf(s) {
			if b != patternByte {
				return false
			}
		}
	}
	return true
}

// bytesOf returns the memory of s. It is called for types made of numbers only:
// their memory holds no pointer for the garbage collector, any bytes are a valid
// value, and a byte needs no alignment.
func bytesOf[E any](s []E) []byte {
	size := int(reflect.TypeFor[E]().Size())
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*size)
}

// pointerFree reports whether values of type t hold nothing that the garbage
// collector follows.
func pointerFree(t reflect.Type) bool {
	return every(t, func(t reflect.Type) bool { return numeric(t) || t.Kind() == reflect.Bool })
}

// every reports whether ok accepts t and every type that t consists of.
func every(t reflect.Type, ok func(reflect.Type) bool) bool {
	if !ok(t) {
		return false
	}
	switch t.Kind() {
	case reflect.Array:
		return t.Len() == 0 || every(t.Elem(), ok)
	case reflect.Struct:
		for i := range t.NumField() {
			if !every(t.Field(i).Type, ok) {
				return false
			}
		}
	}
	return true
}

// numeric accepts the number types, and arrays and structs of them.
func numeric(t reflect.Type) bool {
	k := t.Kind()
	return reflect.Int <= k && k <= reflect.Complex128 || k == reflect.Array || k == reflect.Struct
}

// copyable refuses the types that go vet knows by their pointer methods Lock and
// Unlock.
func copyable(t reflect.Type) bool {
	locker := reflect.TypeFor[sync.Locker]()
	return t.Implements(locker) || !reflect.PointerTo(t).Implements(locker)
}
