package oplog

import (
	"errors"
	"fmt"

	"github.com/poolswap/poolswap"
)

// DefaultKeep is how many operations a [Log] keeps unless its [Config] says
// otherwise.
const DefaultKeep = 1 << 16

// Config says what a [Log] holds and how operations change it. New, Apply, Copy
// and Reset are required. They are called by one goroutine at a time, the one
// whose turn it is to publish, and must not publish themselves: that would wait
// for itself.
type Config[T, Op any] struct {
	// New returns an object with no content. It is the factory of the pool.
	New func() *T

	// Apply changes obj as op says. It must be deterministic, and it is called
	// with the same op once for each object that is brought up to it: what it
	// reads besides obj and op must never change, and obj must not come to share
	// with another object anything that Apply changes in place.
	//
	// If it returns an error or panics, it may leave obj half changed.
	Apply func(obj *T, op Op) error

	// Copy makes the content of dst that of src, whatever dst held before. It
	// shares nothing with src that Apply changes in place. It is called for a
	// new object, for one that missed more than Keep operations, and for one
	// whose content is in doubt. Readers may be reading src.
	Copy func(dst, src *T) error

	// Reset empties obj and keeps its memory. Replace begins with it.
	Reset func(obj *T)

	// Keep is how many operations are kept for objects that missed them; 0
	// stands for DefaultKeep. What they hold stays in memory. A publication is
	// kept whole or not at all. Choose as many as take about as long to apply
	// as Copy takes, and at least twice as many as one publication has.
	Keep int

	// Pool configures the pool. A Log alternates between two objects while no
	// reader holds an old version; each that readers hold at a time takes one
	// more. So MaxLive, if set, is 2 or more, and Spares one more than the old
	// versions that are held at a time: an object beyond the spares is lost at
	// a garbage collection, and its successor costs a Copy. NoSpares is an error.
	Pool poolswap.Options[T]
}

func (c *Config[T, Op]) check() error {
	switch {
	case c.New == nil:
		return errors.New("oplog: Config.New is nil")
	case c.Apply == nil:
		return errors.New("oplog: Config.Apply is nil")
	case c.Copy == nil:
		return errors.New("oplog: Config.Copy is nil")
	case c.Reset == nil:
		return errors.New("oplog: Config.Reset is nil")
	case c.Keep < 0:
		return fmt.Errorf("oplog: Config.Keep is %d, negative", c.Keep)
	case c.Pool.Spares == poolswap.NoSpares:
		return errors.New("oplog: Config.Pool.Spares is NoSpares, so each publication would copy the whole object")
	case c.Pool.MaxLive == 1:
		return errors.New("oplog: Config.Pool.MaxLive is 1, but one object is current and one is changed")
	}
	return nil
}
