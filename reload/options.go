package reload

import (
	"log/slog"
	"math"
	"time"

	"github.com/poolswap/poolswap"
)

// Defaults for Options that are zero.
const (
	DefaultEvery      = time.Minute
	DefaultObjectWait = 10 * time.Second
	DefaultMaxBytes   = 4 << 30
)

// minHint is the least time between two attempts that hints cause, while they
// succeed.
const minHint = 100 * time.Millisecond

// Options configure a [Reloader]. The zero Options will do.
type Options struct {
	// Every is how often Run asks the Source while all is well: each time after
	// 0.9 to 1.1 of it, at random, so that a fleet does not ask at once. 0 stands
	// for DefaultEvery.
	Every time.Duration

	// MaxBackoff is the longest time between two attempts of Run after failures;
	// 0 stands for ten times Every, but no more than ten minutes, or Every if that
	// is longer.
	MaxBackoff time.Duration

	// MaxRetryAfter is the longest time for which a Retry-After of the source is
	// obeyed; 0 stands for ten times Every, but no more than an hour. While nothing
	// is loaded, MaxBackoff bounds it too.
	MaxRetryAfter time.Duration

	// ObjectWait is how long an attempt waits for an object under the pool's
	// MaxLive; 0 stands for DefaultObjectWait.
	ObjectWait time.Duration

	// MaxBytes bounds the length of a Body, decompressed, and of the parts of a
	// Join together; 0 stands for DefaultMaxBytes. Longer content is refused.
	MaxBytes int64

	// Logger receives Info for each swap, Warn for each failure and once for a
	// Waiter that gives no hints any more, and Debug for content that was not
	// modified; nil stands for slog.Default().
	Logger *slog.Logger

	// Stats, if not nil, is the Stats method of the container's pool, for the
	// page of ServeHTTP.
	Stats func() poolswap.Stats

	// Observe, if not nil, is called after each attempt, by the goroutine that
	// made it, which has the turn: Observe must not call Reload. A panic of it, or
	// of Stats, goes to Logger.
	Observe func(Event)
}

// setDefaults replaces zero options. op is the function that got the options.
func (o *Options) setDefaults(op string) {
	if o.Every < 0 || o.MaxBackoff < 0 || o.MaxRetryAfter < 0 || o.ObjectWait < 0 || o.MaxBytes < 0 {
		panic("reload: " + op + " with a negative Every, MaxBackoff, MaxRetryAfter, ObjectWait or MaxBytes")
	}
	if o.Every == 0 {
		o.Every = DefaultEvery
	}
	o.Every = min(o.Every, math.MaxInt64/20) // 14 years
	if o.MaxBackoff == 0 {
		o.MaxBackoff = max(o.Every, min(10*o.Every, 10*time.Minute))
	}
	if o.MaxRetryAfter == 0 {
		o.MaxRetryAfter = min(10*o.Every, time.Hour)
	}
	if o.ObjectWait == 0 {
		o.ObjectWait = DefaultObjectWait
	}
	if o.MaxBytes == 0 {
		o.MaxBytes = DefaultMaxBytes
	}
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
}
