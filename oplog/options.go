package oplog

import (
	"errors"
	"fmt"

	"github.com/poolswap/poolswap"
)

// DefaultKeep is how many operations a [Log] keeps unless its [Options] say
// otherwise.
const DefaultKeep = 1 << 14

// Options say the content of a [Log] and how operations change it. New, Apply, Copy
// and Reset are required. The goroutine that has the turn calls them; only New may
// run on several at a time, if a program takes objects from the pool past the Log.
// They must not publish, and neither must Pool.Discard and Pool.Report: that would
// wait for itself.
type Options[T, Op any] struct {
	// New returns an object with no content. It is the factory of the pool.
	New func() *T

	// Apply changes obj by op. It must be deterministic, since the Log calls it
	// with the same op once for each object: data that it reads besides obj and
	// op must never change, and obj must not come to share with another object
	// anything that Apply changes in place.
	//
	// If it returns an error or panics, it may leave obj half changed: Copy then
	// makes obj anew.
	Apply func(obj *T, op Op) error

	// Copy makes the content of dst that of src; dst may hold any content before.
	// It shares nothing with src that Apply changes in place, and does not copy
	// the Ref, as *dst = *src would. The Log calls it for a new object, for one
	// that missed more than Keep operations, and for one whose content is in
	// doubt. Readers may be reading src. maps.Clone is several times as fast as
	// maps.Copy into a large map that was cleared.
	Copy func(dst, src *T) error

	// Reset empties obj and keeps its memory. Replace begins with it.
	Reset func(obj *T)

	// Keep is the number of operations that are kept for objects that missed
	// them; 0 stands for DefaultKeep. They stay in memory with all that they refer
	// to. A publication is kept whole or not at all. Choose a number whose Apply
	// takes about as long as Copy, and at least twice that of one publication.
	Keep int

	// Pool configures the pool. A Log alternates between two objects while no
	// reader holds an old version; each old version that readers hold takes one
	// more. So MaxLive, if set, is 2 or more. Spares of 0 stands for 1: set it to
	// one more than the number of old versions that are held most of the time. The
	// garbage collector takes an object beyond the spares, and its successor
	// costs a Copy; a spare that is rarely used keeps its memory and its old
	// content. NoSpares is an error.
	Pool poolswap.Options[T]
}

func (c *Options[T, Op]) check() error {
	switch {
	case c.New == nil:
		return errors.New("oplog: Options.New is nil")
	case c.Apply == nil:
		return errors.New("oplog: Options.Apply is nil")
	case c.Copy == nil:
		return errors.New("oplog: Options.Copy is nil")
	case c.Reset == nil:
		return errors.New("oplog: Options.Reset is nil")
	case c.Keep < 0:
		return fmt.Errorf("oplog: Options.Keep is %d, negative", c.Keep)
	case c.Pool.Spares == poolswap.NoSpares:
		return errors.New("oplog: Options.Pool.Spares is NoSpares, so each publication would copy the whole object")
	case c.Pool.Spares < 0:
		return fmt.Errorf("oplog: Options.Pool.Spares is %d, negative", c.Pool.Spares)
	case c.Pool.MaxLive < 0:
		return fmt.Errorf("oplog: Options.Pool.MaxLive is %d, negative", c.Pool.MaxLive)
	case c.Pool.MaxLive == 1:
		return errors.New("oplog: Options.Pool.MaxLive is 1, but one object is current and one is changed")
	}
	return nil
}
