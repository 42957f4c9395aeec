package refcount_test

import (
	"unsafe"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/internal/refcount"
)

// These tests use the engine through package poolswap, as users do, and inspect
// it from inside. The public types begin with the engine's types, which
// TestThePublicTypesBeginWithTheEngines checks.

// slotOf returns the engine's part of a container.
func slotOf[T any, P poolswap.Object[T]](c *poolswap.Container[T, P]) *refcount.Slot {
	return (*refcount.Slot)(unsafe.Pointer(c))
}

// poolOf returns the engine's part of a pool.
func poolOf[T any, P poolswap.Object[T]](p *poolswap.Pool[T, P]) *refcount.Pool {
	return (*refcount.Pool)(unsafe.Pointer(p))
}

// objectOf returns the engine's part of an object that begins with its Ref.
func objectOf[T any](obj *T) *refcount.Object {
	return (*refcount.Object)(unsafe.Pointer(obj))
}
