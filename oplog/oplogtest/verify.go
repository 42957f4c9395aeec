// Package oplogtest tests the functions that a program gives to a Log of package
// oplog.
package oplogtest

import (
	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/oplog"
	"github.com/poolswap/poolswap/oplog/internal/hook"
)

// Verify brings every free object of a Log up to the current version, as Publish
// does, and compares it with the current object by equal. It returns an error for
// the first object that differs: then Apply is not deterministic, Copy does not copy
// everything, or objects share content that Apply changes in place. Verify then
// empties the object with Reset, which must not empty the current one. If no object
// is free, Verify takes a new one, which tests Copy alone. It returns nil if the
// container is empty or closed, or if MaxLive allows no further object. It panics if
// equal is nil.
//
// Verify may run beside publishers and readers, and waits for its turn; equal must
// not publish. Verify does not look at objects that readers hold. If objects do share
// content, Reset writes to memory that readers read.
//
// Verify gives the objects back unpublished, so the next use of each calls Copy. To
// test objects that catch up by operations, publish several times before each
// Verify, sometimes while a reader holds an old version. The race detector finds
// shared content that Reset does not empty in place.
func Verify[T any, P poolswap.Object[T], Op any](log *oplog.Log[T, P, Op], equal func(a, b *T) bool) error {
	return hook.Verify(log, equal)
}
