package refcount

import (
	"sync/atomic"

	"github.com/poolswap/poolswap/internal/seam"
)

// stats counts objects and events. A read that meets no update writes none of it.
// The protocol reads objects alone, under a limit.
type stats struct {
	objects population

	private   atomic.Int64 // objects in the phase private; see spareLimit
	resetting atomic.Int64 // hooks that run at this moment

	created, adopted, discarded, lost, collected atomic.Uint64
	published, retired, drained                  atomic.Uint64 // retired-drained: replaced and still held
	abandoned, leaked, failed                    atomic.Uint64
	retries, lateReleases, slowChecks            atomic.Uint64
}

// population counts, in one word, the live objects, which exist and are neither
// discarded nor lost, and those of them that are current. So one load tells both
// as of one moment. Racing adopters of one object may count it down before it is
// counted, so live can dip below zero.
type population struct {
	word seam.Uint64 // live<<currentBits + current
}

const currentBits = 32

// load returns both numbers.
func (p *population) load() (live, current int) {
	word := p.word.Load()
	return int(int64(word) >> currentBits), int(uint32(word))
}

// change adds to both numbers.
func (p *population) change(live, current int) {
	p.word.Add(uint64(int64(live)<<currentBits + int64(current)))
}

// reserve counts one more live object unless limit, if there is one, is
// reached.
func (s *stats) reserve(limit int) bool {
	if limit == 0 {
		s.objects.change(1, 0) // (G3)
		return true
	}
	for {
		word := s.objects.word.Load()
		if int64(word)>>currentBits >= int64(limit) {
			return false
		}
		if s.objects.word.CompareAndSwap(word, word+1<<currentBits) { // (G3)
			return true
		}
	}
}

// removeLive counts one live object less, and wakes goroutines that wait for objects.
func (p *Pool) removeLive() {
	p.stats.objects.change(-1, 0) // (G3)
	p.returned.wake()
}

// lose settles a retired object that will never come back.
func (p *Pool) lose() {
	p.stats.drained.Add(1)
	p.stats.lost.Add(1)
	p.removeLive()
}
