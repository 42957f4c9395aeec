package refcount_test

import (
	"math/bits"
	"reflect"
	"testing"
	"unsafe"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/internal/refcount"
)

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
