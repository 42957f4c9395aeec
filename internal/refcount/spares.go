package refcount

import "runtime"

// spareLimit is how many clean objects the free list keeps: as many as were
// private at a time lately, within bounds: an object is private from the moment
// that Get returned it until it is published, given back or collected.
//
// The number of such objects grows in a Get, but for those that an Update adopts
// and publishes at once, so looking there finds each peak. A peak is remembered in
// the round of Gets in which it was, and in the next. Time plays no part: a pool
// without work keeps its spares. The mutex of the free list, which a Get holds
// anyway, guards the limit.
type spareLimit struct {
	now         int // the limit; at least least and at most most
	least, most int // constant; the same if the limit is constant

	gets       int // of this round
	peak, last int // most objects that were private at a time, in this round and in the one before
}

// roundOfGets is after how many Gets a round ends. The limit falls after one
// round to two without the peak. It is many fills of each of several writers, so
// that they are all in fill at some Get of nearly every round, and few updates of
// a single one, whose memory the surplus is.
const roundOfGets = 128

// MostFollowing is the bound for a limit that follows the work. Fills that compute
// are not done sooner if more of them run at a time than there are processors;
// twice as many leave room for objects that are being reset meanwhile. Fills that
// wait for input can be more than the processors of a small machine, so 16 are
// kept there. A program that takes more objects than that at a time, as from a
// pool that it uses without a container, would otherwise have all of them kept
// for good.
func MostFollowing() int { return max(16, 2*runtime.GOMAXPROCS(0)) }

// handOut notes how many objects are private when a Get is about to return one of
// them. The caller holds the mutex of the free list.
func (l *spareLimit) handOut(private int) {
	if l.least == l.most {
		return
	}
	l.peak = max(l.peak, private)
	l.now = min(max(l.least, l.last, l.peak), l.most)
	if l.gets++; l.gets == roundOfGets {
		l.last, l.peak, l.gets = l.peak, 0, 0
	}
}
