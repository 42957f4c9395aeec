package oplog

import "sync/atomic"

// Stats are counts of a [Log] since it was made.
type Stats struct {
	Publications uint64 // by Publish and Replace
	Operations   uint64 // operations published
	Applied      uint64 // successful calls of Apply, for new operations and for missed ones
	CatchUps     uint64 // objects brought up by the operations that they missed
	Copies       uint64 // objects brought up by Copy
	Restarts     uint64 // new beginnings: Replace, and publications past the log
	Kept         int    // operations kept at this moment
}

// counts are the figures of Stats. The publisher that has the turn writes them.
type counts struct {
	publications, operations, applied, catchUps, copies, restarts atomic.Uint64

	kept atomic.Int64
}

// Stats returns the counts. Each is right for some moment during the call. It
// waits for nothing.
func (l *Log[T, P, Op]) Stats() Stats {
	c := &l.counts
	return Stats{
		Publications: c.publications.Load(),
		Operations:   c.operations.Load(),
		Applied:      c.applied.Load(),
		CatchUps:     c.catchUps.Load(),
		Copies:       c.copies.Load(),
		Restarts:     c.restarts.Load(),
		Kept:         int(c.kept.Load()),
	}
}
