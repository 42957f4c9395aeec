package poolswap

import "sync/atomic"

// tally counts what [Stats] shows. None of it is written by a read that meets
// no update, and the protocol never looks at it, but for live under a limit.
type tally struct {
	live      atomic.Int64 // objects that exist and are not discarded or lost
	resetting atomic.Int64

	created, adopted, discarded, lost, collected atomic.Uint64
	published, retired, drained                  atomic.Uint64 // retired-drained: replaced and still held
	abandoned, leaked                            atomic.Uint64
	retries, lateReleases, slowChecks            atomic.Uint64
}

// reserve counts one more live object unless limit, where there is one, is
// reached.
func (t *tally) reserve(limit int64) bool {
	for {
		live := t.live.Load()
		if limit > 0 && live >= limit {
			return false
		}
		if t.live.CompareAndSwap(live, live+1) {
			return true
		}
	}
}

// lose settles a retired object that will never come back.
func (t *tally) lose() {
	t.drained.Add(1)
	t.lost.Add(1)
	t.live.Add(-1)
}
