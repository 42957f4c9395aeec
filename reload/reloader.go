package reload

import (
	"context"
	"log/slog"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/poolswap/poolswap"
)

// Reloader keeps the current object of a container fresh. Make one with [New],
// and call Run, Reload or both. It is safe for any number of goroutines, and must
// not be copied. One container has one Reloader.
type Reloader struct {
	setup

	turn     chan struct{}    // full while an attempt runs
	tried    chan struct{}    // full once an attempt has ended, for Run
	renewed  chan struct{}    // full once an attempt has found another revision, for hints
	served   served           // guarded by turn, like the fields down to refusal
	restorer Restorer         // asked before the source is asked for the first time, or nil
	ctx      *reloaderContext // of the last attempt
	notKept  error            // why restorer had nothing, until something is loaded
	have     string           // the last revision that was loaded, or refused for its content
	sum      string           // Status.SHA256, or "" after a delta: the same bytes can change other content
	refusal  error            // why have was refused, if it was

	places sync.Map // place by Fallback

	whole     atomic.Bool // an attempt runs that takes no delta
	scheduled atomic.Bool // an attempt runs that the timer of Run began

	checks atomic.Uint64 // how often a check of this package has verified content

	mu        sync.Mutex
	running   bool
	status    Status
	known     string // the last status.known
	steady    bool   // see backoffState
	fruitless int    // the same: attempts in a row
	begun     uint64 // attempts
	recent    []Event
}

// setup is the part of a Reloader that does not change: all that an attempt knows of it.
type setup struct {
	source  Source
	name    string
	options Options
	publish func(ctx context.Context, a *attempt) (version uint64, err error)
	version func() uint64
	wait    func(ctx context.Context, after uint64) (uint64, error)
	base    func() string // the revision that a delta can change now, or nil without a log
}

// served is the last attempt that ended for another reason than its ctx.
type served struct {
	number uint64
	err    error
}

// New returns a Reloader that publishes the content of source in c. load fills next
// from content; current is the object that next will replace, or nil, to compare
// with. load has next and current until it returns, and reads content's
// Body, to its end or not, or its File. An error of load refuses the content: it
// is not fetched again until its revision changes. ctx is that of the attempt.
//
// New panics if c, source or load is nil, or an option is negative.
func New[T any, P poolswap.Object[T]](c *poolswap.Container[T, P], source Source, load func(ctx context.Context, next, current *T, content *Content) error, options Options) *Reloader {
	switch {
	case c == nil:
		panic("reload: New with a nil Container")
	case source == nil:
		panic("reload: New with a nil Source")
	case load == nil:
		panic("reload: New with a nil load")
	}
	r := newReloader("New", source, options)
	r.publish, r.version, r.wait = publisher(c, load), c.Version, c.Wait
	return r
}

// newReloader returns a Reloader that does not know yet what it publishes in.
func newReloader(op string, source Source, options Options) *Reloader {
	options.setDefaults(op)
	r := &Reloader{
		setup:   setup{source: source, name: nameOf(source), options: options},
		turn:    make(chan struct{}, 1),
		tried:   make(chan struct{}, 1),
		renewed: make(chan struct{}, 1),
	}
	r.status.Source = r.name
	r.restorer, _ = source.(Restorer)
	return r
}

// Reload runs an attempt, or joins one that begins after the call. It returns nil if
// the newest content is loaded, ctx's error if ctx ended first, and otherwise an
// *[Error]: while the newest content is refused, the error of its refusal. It returns
// nil, too, if the attempt loaded the content that a [Cache] had kept: Status says
// whether there may be something newer. A Retry-After does not keep Reload from
// asking. It panics if ctx is nil.
func (r *Reloader) Reload(ctx context.Context) error {
	if ctx == nil {
		panic("reload: Reload with a nil Context")
	}
	r.mu.Lock()
	before := r.begun
	r.mu.Unlock()
	if err := r.takeTurn(ctx); err != nil {
		return err
	}
	defer r.passTurn()
	if r.served.number > before {
		return r.served.err
	}
	return r.attemptNow(ctx, false, "")
}

// reloadScheduled makes an attempt for the timer of Run. Callers of Reload do not join it:
// see Scheduled.
func (r *Reloader) reloadScheduled(ctx context.Context) {
	if r.takeTurn(ctx) != nil {
		return
	}
	defer r.passTurn()
	r.scheduled.Store(true)
	defer r.scheduled.Store(false)
	before := r.served
	r.attemptNow(ctx, false, "") //nolint:errcheck // the attempt has told of it
	r.served = before
}

// Accept is Reload for an operator who knows that the content that load refused is
// right: it fetches it again, even if the Source has nothing newer, and tells load
// by Content.Accepted, if it has the revision, which is Status.Refused. If the
// Source has another revision by now, that is loaded as usual. Accept makes an
// attempt of its own.
func (r *Reloader) Accept(ctx context.Context, revision string) error {
	if ctx == nil {
		panic("reload: Accept with a nil Context")
	}
	if err := r.takeTurn(ctx); err != nil {
		return err
	}
	defer r.passTurn()
	return r.attemptNow(ctx, true, revision)
}

// Run keeps the content fresh: it makes an attempt at once (if a [Cache] has kept
// content, after a tenth of Every or 10 seconds at most), at each hint of a source that is a [Waiter], and on a timer (see Options.Every). After a failure
// it tries again with exponential backoff, and not before a source's Retry-After
// has passed. It returns when ctx ends, with ctx's error, or when the container
// is closed, with poolswap.ErrClosed, and never for another reason. It panics if
// ctx is nil, or if it runs already.
func (r *Reloader) Run(ctx context.Context) error {
	if ctx == nil {
		panic("reload: Run with a nil Context")
	}
	r.start()
	defer r.stop()
	ctx, cancel := context.WithCancel(ctx)
	var helpers sync.WaitGroup
	defer helpers.Wait()
	defer cancel()
	over := make(chan error, 1)
	helpers.Go(func() {
		_, err := r.wait(ctx, math.MaxUint64) // no version is above: it ends with ctx or the container
		over <- err
		cancel() // an attempt of this Run is in vain now
	})
	hints := make(chan struct{})
	if waiter, ok := r.source.(Waiter); ok {
		helpers.Go(func() { r.hint(&reloaderContext{ctx, r}, waiter, hints) })
	}
	timer := time.NewTimer(math.MaxInt64)
	defer timer.Stop()
	r.spread(ctx)
	for scheduled := false; ; {
		if scheduled {
			r.reloadScheduled(ctx)
		} else {
			r.Reload(ctx) //nolint:errcheck // the attempt has told of it
		}
		var err error
		if scheduled, err = r.rest(timer, hints, over); err != nil {
			return err
		}
	}
}

// rest waits until it is time for Run's next attempt, and reports whether it was the timer
// that ended the wait, or returns why Run is over. An attempt of another caller meanwhile
// begins the wait anew: its outcome may ask for another pause.
func (r *Reloader) rest(timer *time.Timer, hints <-chan struct{}, over <-chan error) (scheduled bool, err error) {
	for {
		select { // drain: pause already reflects it
		case <-r.tried:
		default:
		}
		pause, asked := r.pause()
		allowed := hints
		if asked {
			allowed = nil
		}
		r.announce(time.Now().Add(pause))
		timer.Reset(pause)
		select {
		case <-timer.C:
			return true, nil
		case <-allowed:
			return false, nil
		case <-r.tried:
		case err := <-over:
			return false, err
		}
	}
}

func (r *Reloader) start() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.running {
		panic("reload: Run of a Reloader that runs already")
	}
	r.running = true
}

func (r *Reloader) stop() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.running, r.status.Next = false, time.Time{}
}

func (r *Reloader) announce(next time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.status.Next = next
}

// hint sends the hints of waiter until ctx ends. It warns once of a waiter that gives none,
// until it gives one.
func (r *Reloader) hint(ctx context.Context, waiter Waiter, hints chan<- struct{}) {
	level := slog.LevelWarn
	for ctx.Err() == nil {
		renewed, err := r.waitForHint(ctx, waiter)
		if renewed {
			continue
		}
		if err == nil {
			level = slog.LevelWarn
			select {
			case hints <- struct{}{}:
			case <-ctx.Done():
			}
		} else if ctx.Err() == nil {
			r.options.Logger.LogAttrs(ctx, level, "reload: no hints from the source", slog.String("source", r.name), slog.Any("error", err))
			level = slog.LevelDebug
			sleep(ctx, max(r.options.Every, min(retryAfter(err), r.options.MaxRetryAfter)))
		}
		r.throttleHints(ctx)
	}
}

// waitForHint calls Wait with the newest revision that is known. Once an attempt
// has found another, it ends that Wait and reports that it is to be renewed: a
// source that goes back to the earlier revision would look as if it had nothing
// newer.
func (r *Reloader) waitForHint(ctx context.Context, waiter Waiter) (renewed bool, err error) {
	waiting, cancel := context.WithCancel(ctx)
	var watching sync.WaitGroup
	defer watching.Wait()
	defer cancel()
	select {
	case <-r.renewed: // known is newer
	default:
	}
	watching.Go(func() {
		select {
		case <-r.renewed:
			cancel()
		case <-waiting.Done():
		}
	})
	s := r.Status()
	err = recovered(func() error { return waiter.Wait(waiting, s.known()) })
	return err != nil && waiting.Err() != nil && ctx.Err() == nil, err
}

// throttleHints waits before the next hint. It backs off while hints only produce
// failures, until the first success.
func (r *Reloader) throttleHints(ctx context.Context) {
	for begun := time.Now(); ctx.Err() == nil; sleep(ctx, min(minHint, r.options.Every)) {
		if time.Since(begun) >= min(r.options.Every, minHint<<min(r.Status().Failures, 20)) {
			return
		}
	}
}

// sleep waits until d has passed or ctx ends.
func sleep(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
