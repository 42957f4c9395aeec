package oplog

import (
	"context"
	"errors"
	"fmt"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/oplog/internal/hook"
)

func init() {
	hook.Verify = func(log, equal any) error { return log.(interface{ verify(equal any) error }).verify(equal) }
}

// verify is oplogtest.Verify; like is a func(a, b *T) bool.
func (l *Log[T, P, Op]) verify(like any) error {
	equal := like.(func(a, b *T) bool)
	if equal == nil {
		panic("oplogtest: Verify with a nil equal")
	}
	if err := l.await(context.Background()); err != nil {
		return err
	}
	defer l.pass()
	current := l.container.Acquire()
	defer l.container.Release(current)
	if current == nil {
		return nil
	}
	stats := l.pool.Stats()
	for range max(1, stats.Spares+stats.PendingReset) {
		obj, err := l.pool.TryGet()
		if errors.Is(err, poolswap.ErrLimit) || errors.Is(err, poolswap.ErrClosed) {
			return nil // a publisher or Close was faster
		}
		if err != nil {
			return err
		}
		defer l.container.Release(obj) // after the others were taken
		version := l.container.VersionOf(obj)
		if err := l.catchUp(obj, current); err != nil {
			return err
		}
		if !equal(obj, current) {
			return fmt.Errorf("oplogtest: an object of %s, brought up, differs from the current one of version %d", versionName(version), l.container.VersionOf(current))
		}
		if empty := l.options.New(); !equal(empty, current) {
			l.options.Reset(obj)
			if equal(obj, current) {
				return errors.New("oplogtest: after Reset an object is still like the current one: they share content, or Reset does not empty it")
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
