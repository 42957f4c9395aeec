package poolswap

import (
	"sync"
	"weak"

	"github.com/poolswap/poolswap/internal/stripe"
)

// known is every object that a pool has given counters to and that exists. A
// Ref that was overwritten with zeros looks like a new one; counting anew would
// hide the readers that the old counters know of.
type known struct {
	mu      sync.Mutex
	objects map[weak.Pointer[Ref]]*stripe.Counters
}

// add remembers a new object, or returns the counters that it had before.
func (k *known) add(ref *Ref, counters *stripe.Counters) (had *stripe.Counters) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.objects == nil {
		k.objects = make(map[weak.Pointer[Ref]]*stripe.Counters)
	}
	at := weak.Make(ref)
	if had := k.objects[at]; had != nil {
		return had
	}
	k.objects[at] = counters
	return nil
}

// forget is for an object that is gone.
func (k *known) forget(at weak.Pointer[Ref]) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.objects, at)
}
