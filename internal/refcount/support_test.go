package refcount_test

import (
	"reflect"
	"testing"

	"github.com/poolswap/poolswap"
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
