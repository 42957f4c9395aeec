// Package oplog publishes changes at the cost of the changes: ten keys of a
// table of a million cost ten writes, twice, and no copy of the table.
//
// A [Log] is a [poolswap.Container] whose writer does not fill an object anew. It
// keeps the last operations that were published. An object that comes back from
// the pool has the content of the version under which it was current, so Publish
// applies to it the operations that it missed, then the new ones, and publishes
// it. Readers use the container as ever: they never wait, and what they hold
// does not change. Two copies of the data take turns that way; the idea is that
// of left-right (Ramalhete and Correia, 2013), without its readers' indicators
// that a writer waits for: a reader that is slow keeps its object, and the pool
// gives another.
//
//	log, err := oplog.New(oplog.Options[Routes, Route]{
//		New:   func() *Routes { return &Routes{next: map[netip.Prefix]netip.Addr{}} },
//		Apply: func(r *Routes, op Route) error { r.next[op.Prefix] = op.Via; return nil },
//		Copy:  func(dst, src *Routes) error { dst.next = maps.Clone(src.next); return nil },
//		Reset: func(r *Routes) { clear(r.next) },
//	})
//	...
//	version, err := log.Publish(ctx, Route{prefix, via})
//
// [Map] is a Log made ready for what most programs want, a map.
//
// # Two rules
//
// Operations are immutable once they were given to Publish. The slice is copied,
// what the operations point to is not, and it is applied again, later, to every
// other object.
//
// Objects share nothing that Apply changes in place. Apply appends to a slice
// that it finds in the object, or changes a map inside it? Then Copy must copy
// that slice or map too, and an operation must not carry it into two objects:
// Apply takes a copy of its own. Otherwise Apply writes to what a reader of
// another object reads, which is a data race that no check finds but the race
// detector. An object may share what is never changed again, like a string.
//
// Right and wrong are side by side in docs/oplog.md, with when a full refill is
// the better way, what a Log costs in memory, and how a change stream feeds it.
package oplog
