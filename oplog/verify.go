package oplog

import (
	"context"
	"errors"
	"fmt"

	"github.com/poolswap/poolswap"
)

// Verify is for tests. It brings every free object up, as Publish would, and
// returns an error for the first that equal says is not like the current object:
// then Apply is not deterministic, Copy does not copy everything, or objects share
// what Apply changes in place. Then it empties the object with Reset, which must
// not empty the current one. If no object is free, it takes a new one, which tests
// Copy alone. It returns nil if the container is empty or closed, or if no object
// may be made under MaxLive. It panics if equal is nil.
//
// Verify may run beside publishers and readers, and waits for its turn; equal must
// not publish. Objects that readers hold are not looked at. If objects do share
// content, Reset writes to what readers read.
//
// The objects are given back unpublished, so each is brought up by Copy when it is
// used next. For Verify to meet objects that catch up by operations, publish
// several times before each Verify, sometimes while an old version is held. The
// race detector finds what objects share and Reset does not empty in place.
func Verify[T any, P poolswap.Object[T], Op any](log *Log[T, P, Op], equal func(a, b *T) bool) error {
	if equal == nil {
		panic("oplog: Verify with a nil equal")
	}
	if err := log.take(context.Background()); err != nil {
		return err
	}
	defer log.pass()
	current := log.container.Acquire()
	defer log.container.Release(current)
	if current == nil {
		return nil
	}
	stats := log.pool.Stats()
	for range max(1, stats.Spares+stats.PendingReset) {
		obj, err := log.pool.TryGet()
		if errors.Is(err, poolswap.ErrLimit) || errors.Is(err, poolswap.ErrClosed) {
			return nil // a publisher was faster, or Close
		}
		if err != nil {
			return err
		}
		defer log.container.Release(obj) // after the others were taken
		version := log.container.VersionOf(obj)
		if err := log.catchUp(obj, current); err != nil {
			return err
		}
		if !equal(obj, current) {
			return fmt.Errorf("oplog: an object of %s, brought up, is not like the current one of version %d", versionName(version), log.container.VersionOf(current))
		}
		if empty := log.config.New(); !equal(empty, current) {
			log.config.Reset(obj)
			if equal(obj, current) {
				return errors.New("oplog: after Reset an object is still like the current one: they share content, or Reset does not empty it")
			}
		}
	}
	return nil
}

func versionName(version uint64) string {
	if version == 0 {
		return "unknown version"
	}
	return fmt.Sprintf("version %d", version)
}
