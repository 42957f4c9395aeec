package reload

import (
	"context"
	"math/rand/v2"
	"time"
)

// Run tries again after a failure at the latest after firstRetry while nothing
// is loaded yet: a service that cannot answer is in a hurry.
const firstRetry = time.Second

// pause returns how long Run waits for the next attempt, and whether the source
// asked for it: then a hint does not end it.
func (r *Reloader) pause() (pause time.Duration, asked bool) {
	s, steady, fruitless := r.backoffState()
	if steady && (s.Failures == 0 || s.Version != 0) {
		return r.poll(), false
	}
	// Exponential backoff with full jitter, as in "Exponential Backoff And
	// Jitter" (Brooker, AWS, 2015), but for a floor that keeps it from
	// hammering.
	first := min(r.options.Every, r.options.MaxBackoff)
	if s.Version == 0 {
		first = min(first, firstRetry)
	}
	ceiling := first
	for range fruitless - 1 {
		if ceiling >= r.options.MaxBackoff/2 {
			ceiling = r.options.MaxBackoff
			break
		}
		ceiling *= 2
	}
	if steady { // refused: back off, but never beyond Every
		return jitter(first/10, min(ceiling, r.options.Every)), false
	}
	longest := r.options.MaxRetryAfter
	if s.Version == 0 { // no answer of a source keeps a service from its first content
		longest = min(longest, r.options.MaxBackoff)
	}
	after := min(retryAfter(s.Err), longest)
	return max(jitter(first/10, ceiling), jitter(after, after+max(first, after/10))), after > 0
}

// maxSpread is the longest time that Run serves kept content before it asks the source
// for the first time.
const maxSpread = 10 * time.Second

// spread loads kept content, and then waits for a random time: replicas that start
// together do not ask in the same moment. A service that has nothing to serve does not
// wait.
func (r *Reloader) spread(ctx context.Context) {
	if r.takeTurn(ctx) != nil {
		return
	}
	kept := r.loadKept(r.contextFor(ctx))
	r.passTurn()
	if kept {
		pause := jitter(0, min(r.options.Every/10, maxSpread))
		r.announce(time.Now().Add(pause))
		sleep(ctx, pause)
	}
}

// poll returns a time around Every.
func (r *Reloader) poll() time.Duration {
	return jitter(r.options.Every*9/10, r.options.Every*11/10)
}

// backoffState returns the Status, whether the last attempt is no reason for
// another pause than Every, since it succeeded, or refused content, which is not
// fetched again, and how many attempts in a row were fruitless: they failed, or
// found refused content again while nothing was loaded.
func (r *Reloader) backoffState() (s Status, steady bool, fruitless int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.status, r.steady, r.fruitless
}

// jitter returns a duration between from and to.
func jitter(from, to time.Duration) time.Duration {
	if to <= from {
		return from
	}
	return from + rand.N(to-from)
}
