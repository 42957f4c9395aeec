// Package oplog publishes changes at the cost of the changes: ten keys of a
// table of a million cost ten writes, twice, and no copy of the table.
//
// A [Log] is a [poolswap.Container] whose writer does not fill an object anew. It
// keeps the last published operations. An object that comes back from the pool has
// the content of the version under which it was current, so Publish applies the
// operations that it missed, then the new ones, and publishes it. Readers use the
// container as ever: they never wait, and the objects that they hold do not change.
// Two copies of the data take turns, as in left-right (Ramalhete and Correia, 2013),
// but a writer does not wait for readers: a slow reader keeps its object, and the
// pool gives another.
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
// [Map] is a Log made ready for the most common content, a map. Package oplogtest
// tests Apply, Copy and Reset.
//
// # Two rules
//
// Operations are immutable once they were given to Publish. Publish copies the
// slice, but not the memory that the operations point to, and applies them again,
// later, to every other object.
//
// Objects share nothing that Apply changes in place. If Apply appends to a slice
// that it finds in the object, or changes a map inside it, then Copy must copy that
// slice or map too, and an operation must not carry it into two objects: Apply takes
// a copy of its own. Otherwise Apply writes to memory that readers of another object
// read, a data race that only the race detector finds. Objects may share content
// that never changes again, like a string.
//
// docs/oplog.md has right and wrong code side by side, the cases in which a full
// refill is better, the memory of a Log, and a change stream that feeds one.
package oplog
