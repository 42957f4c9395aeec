package refcount_test

import (
	"math/bits"
	"reflect"
	"testing"
	"unsafe"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/internal/refcount"
)

// table is the object that most tests swap.
type table struct {
	poolswap.Ref
	value int
}

func newTablePool(options poolswap.Options[table]) *poolswap.Pool[table, *table] {
	return poolswap.NewPoolWithOptions(
		func() *table { return new(table) },
		func(t *table) bool { t.value = 0; return true },
		options)
}

func newTableContainer(options poolswap.Options[table]) *poolswap.Container[table, *table] {
	return poolswap.NewContainer(newTablePool(options), &table{value: 1})
}

// drainByReader updates c n times while a reader holds the old object, so that
// the reader's Release drains it.
func drainByReader(c *poolswap.Container[table, *table], n int) {
	for range n {
		old := c.Acquire()
		c.Update(c.GetNew())
		c.Release(old)
	}
}

func TestThePublicTypesBeginWithTheEngines(t *testing.T) {
	for _, test := range []struct {
		typ  reflect.Type
		want string
	}{
		{reflect.TypeFor[poolswap.Container[table, *table]](), "refcount.Slot"},
		{reflect.TypeFor[poolswap.Pool[table, *table]](), "refcount.Pool"},
		{reflect.TypeFor[poolswap.Ref](), "refcount.Object"},
		{reflect.TypeFor[table](), "poolswap.Ref"},
	} {
		if first := test.typ.Field(0).Type.String(); first != test.want {
			t.Errorf("%v begins with a %s, want %s", test.typ, first, test.want)
		}
	}
}

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

// TestReadersAndWritersOfASlotHaveLinesOfTheirOwn: a publication writes its words
// three times and more; readers must not lose the line that they read from, nor
// the one that the processor fetches with it.
func TestReadersAndWritersOfASlotHaveLinesOfTheirOwn(t *testing.T) {
	const line, pair = 64, 128
	read := map[string]bool{"current": true, "pool": true, "offset": true, "self": true, "useAsm": true}
	slot := reflect.TypeFor[refcount.Slot]()
	for field := range slot.Fields() {
		end := field.Offset + field.Type.Size()
		switch {
		case field.Name == "_":
		case read[field.Name]:
			delete(read, field.Name)
			if end > line {
				t.Errorf("readers read %s, which ends at byte %d, beyond the first line", field.Name, end)
			}
		case field.Offset < pair:
			t.Errorf("readers do not read %s, which lies at byte %d of their pair of lines", field.Name, field.Offset)
		}
	}
	if len(read) > 0 {
		t.Errorf("a Slot has no field of these names: %v", read)
	}
	if bits.UintSize == 32 {
		return // the allocator puts a header of 8 bytes before it, and aligns to nothing
	}
	pool := newTablePool(poolswap.Options[table]{})
	for range 100 {
		c := poolswap.NewEmptyContainer(pool)
		if at := uintptr(unsafe.Pointer(c)); at%pair != 0 || unsafe.Sizeof(*c)%pair != 0 {
			t.Fatalf("a container of %d bytes at %#x shares a pair of lines with its neighbours", unsafe.Sizeof(*c), at)
		}
	}
}
