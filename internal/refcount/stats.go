package poolswap

import (
	"sync/atomic"

	"github.com/poolswap/poolswap/internal/seam"
)

// tally counts what [Stats] shows. None of it is written by a read that meets
// no update, and the protocol never looks at it, but for live under a limit.
type tally struct {
	live      seam.Uint64 // objects that exist and are not discarded or lost
	resetting atomic.Int64

	created, adopted, discarded, lost, collected atomic.Uint64
	published, retired, drained                  atomic.Uint64 // retired-drained: replaced and still held
	abandoned, leaked                            atomic.Uint64
	retries, lateReleases, slowChecks            atomic.Uint64
}

// born counts one more live object.
func (t *tally) born() { t.live.Add(1) } // (G3)

// gone counts one less.
func (t *tally) gone() { t.live.Add(^uint64(0)) } // (G3)

// reserve counts one more live object unless limit, where there is one, is
// reached. Of an object that several goroutines bring at once, the end may be
// counted before the beginning, so live is negative for a moment.
func (t *tally) reserve(limit int) bool {
	if limit == 0 {
		t.born()
		return true
	}
	for {
		live := t.live.Load()
		if int64(live) >= int64(limit) {
			return false
		}
		if t.live.CompareAndSwap(live, live+1) { // (G3) of two that see room for one, one takes it
			return true
		}
	}
}

// lose settles a retired object that will never come back.
func (t *tally) lose() {
	t.drained.Add(1)
	t.lost.Add(1)
	t.gone()
}
