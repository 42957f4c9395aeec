package refcount

import "runtime"

// spareLimit is how many clean objects the free list keeps: as many as were
// being filled at a time lately, within bounds. An object is being filled from
// the moment that a Get returned it until it is published, given back or
// collected.
//
// The number of such objects grows only in a Get, so looking there finds each
// peak. A peak is remembered in the round of Gets in which it was, and in the
// next. Time plays no part: a pool without work keeps what it has.
//
// The mutex of the free list guards the limit, and a Get holds that mutex anyway.
// Publications are counted for Stats as well, so an Update writes no word for this.
type spareLimit struct {
	now         int // the limit; at least least and at most most
	least, most int // constant; the same if the limit is constant

	handedOut  uint64 // objects that Get returned
	gets       int    // of this round
	peak, last int    // most objects that were being filled at a time, in this round and in the one before
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

// handOut counts an object that a Get is about to return. The caller holds the
// mutex of the free list.
func (l *spareLimit) handOut(s *stats) {
	if l.least == l.most {
		return
	}
	l.handedOut++
	// The loads come after the count and while no other Get can count, so what
	// they miss are ends of fills, and a publication of an object that no Get
	// returned. The result is the number at some moment since the mutex was taken,
	// or a smaller one.
	ended := uint64(s.unpublished.Load())
	ended += s.published.Load()
	l.peak = max(l.peak, int(int64(l.handedOut-ended)))
	l.now = min(max(l.least, l.last, l.peak), l.most)
	if l.gets++; l.gets == roundOfGets {
		l.last, l.peak, l.gets = l.peak, 0, 0
	}
}
