package fleet

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"
)

const (
	pollWait = 55 * time.Second // that the server waits for a later plan

	// The pauses between polls that fail double from the first to the last.
	firstPollRetry, lastPollRetry = time.Second, 30 * time.Second
	maxPollRetryAfter             = 5 * time.Minute

	// Polls that are answered rest for a moment. A server that answers at once more
	// than pollBurst times in a row is asked every pollRate, or every planRate if it has a
	// later plan each time. A later plan for which it has waited counts for nothing: a
	// table can change each second.
	pollRest  = 100 * time.Millisecond
	pollBurst = 20
	pollRate  = 10 * time.Second
	planRate  = time.Second

	// A replica that a plan does not concern reports that it knows of it after up to
	// this time, or Plan.Spread, so that a thousand do not report at once.
	reportSpread = 2 * time.Second
	maxSpread    = time.Minute // of a Plan, whatever a server sends

	// A report that is due so soon, or in a quarter of ReportEvery, is sent before the
	// next poll, and a poll ends before one is due: a replica has one connection.
	reportSoon = time.Second
	maxAttempt = time.Minute // that a poll waits for the end of an attempt
)

// follower is the state of polling for plans, which goes on from one Wait to the next.
// Source.mu guards it.
type follower struct {
	waiting  bool      // Wait runs
	open     bool      // a poll is under way
	failures int       // polls in a row
	failure  error     // of the last of them
	credit   float64   // of polls that may be answered at once
	answered time.Time // the last poll
	next     time.Time // no poll before it
	ready    time.Time // no Fetch by the latest plan before it
	reached  bool      // a poll was answered after failures, and no Fetch has begun since
}

// Wait implements reload.Waiter: it returns when the plan wants another revision than
// have, and when the server answers again after a Fetch failed. It asks by long polls,
// and paces those that fail or are answered at once. While it runs, it sends reports
// every SourceOptions.ReportEvery. It fails only when ctx ends.
func (s *Source) Wait(ctx context.Context, have string) error {
	s.set(func() { s.waiting = true })
	defer s.set(func() { s.waiting = false })
	polling, cancel := context.WithCancel(ctx)
	var poll sync.WaitGroup
	defer poll.Wait()
	defer cancel()
	idle, ended := true, make(chan struct{}, 1)
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		news, changed, due := s.look(have)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case news:
			return nil
		case idle:
			idle = false
			poll.Go(func() {
				s.poll(polling)
				ended <- struct{}{}
			})
		}
		timer.Reset(time.Until(due))
		select {
		case <-ctx.Done():
		case <-ended:
			idle = true
		case <-changed:
		case <-timer.C:
			s.reportNow()
		}
	}
}

// look reports whether there is reason for a Fetch, and otherwise when to look again. If
// the plan leaves the replica as it is, the next report says that it knows the plan.
func (s *Source) look(have string) (news bool, changed <-chan struct{}, due time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch later := s.plan != nil && s.plan.After(s.looked.epoch, s.looked.seq); {
	case s.reached && s.failed:
		news = true
	case !later:
	case s.report.Error != "": // another plan may want the revision that it runs, and the report must say so
		news = true
	case s.plan.Paused && have != "":
		s.follow()
	default:
		want := s.plan.Wanted(s.options.ID, s.options.Labels).ID
		news = want != have
		if !news && want == s.report.Revision {
			s.follow()
		}
	}
	if due = s.due; news && time.Now().Before(s.ready) {
		news, due = false, earlier(due, s.ready)
	}
	return news, s.changed, due
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// follow lets a report say soon that the replica follows the latest plan, unless an
// attempt is under way, which went by an earlier one and may change the revision. The
// caller has mu.
func (s *Source) follow() {
	if s.busy || s.number == 0 { // or nothing has come to Observe yet
		return
	}
	s.looked = version{s.plan.Epoch, s.plan.Seq}
	s.report.Epoch, s.report.Seq = s.looked.epoch, s.looked.seq
	spread := max(min(reportSpread, s.options.ReportEvery/10), min(spreadOf(s.plan), s.options.ReportEvery/2))
	s.due = earlier(s.due, time.Now().Add(rand.N(spread)))
}

// cut reports whether Wait cannot reach the server, and tries again by itself: reports and
// scheduled attempts would dial as well. The caller has mu.
func (s *Source) cut() bool { return s.waiting && s.failures > 0 }

// soon returns how early a report may be, for the connection's sake.
func (s *Source) soon() time.Duration { return min(reportSoon, s.options.ReportEvery/4) }

// spreadOf returns the time over which replicas spread what they do after a plan.
func spreadOf(p *Plan) time.Duration { return max(0, min(p.Spread, maxSpread)) }

// quiet waits until a poll may begin: its time has come, and no report and no attempt is
// under way, which can use the connection that the poll will hold. It reports false if ctx
// ended first.
func (s *Source) quiet(ctx context.Context) bool {
	began := time.Now()
	for {
		s.mu.Lock()
		now, attempt := time.Now(), maxAttempt
		switch {
		case s.number > 0:
		case s.fetches == 1:
			attempt = reportPatience
		default: // nothing ever comes to Observe
			attempt = 0
		}
		if !now.Before(s.due) {
			s.reportDue(now)
		}
		var until time.Time
		switch report := began.Add(reportPatience); {
		case now.Before(s.next):
			until = s.next
		case now.Before(s.ready): // a Fetch comes first
			until = s.ready.Add(pollRest)
		case s.sending != nil && now.Before(report):
			until = report
		case s.busy && now.Before(s.fetched.Add(attempt)):
			until = s.fetched.Add(attempt)
		case s.due.Sub(now) < s.soon():
			until = s.due
		}
		changed := s.changed
		s.mu.Unlock()
		if until.IsZero() || ctx.Err() != nil {
			return ctx.Err() == nil
		}
		timer := time.NewTimer(until.Sub(now))
		select {
		case <-timer.C:
		case <-changed:
		case <-ctx.Done():
		}
		timer.Stop()
	}
}

// poll asks for a later plan once, when its time has come.
func (s *Source) poll(ctx context.Context) {
	if !s.quiet(ctx) {
		return
	}
	s.mu.Lock()
	asked, after := time.Now(), "0.0"
	wait := max(pollRest, min(pollWait, s.due.Sub(asked)-s.soon()/2))
	if s.failures > 0 {
		wait = 0 // to know soon that the server is back
	}
	if s.plan != nil {
		after = s.plan.Version()
	}
	s.open = true
	s.mu.Unlock()
	plan, err := s.client.plan(ctx, s.name, after, wait)
	s.set(func() {
		s.open = false
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			s.pollFailed(err)
			return
		}
		now := time.Now()
		if s.failures > 0 {
			s.failures, s.reached = 0, true
			if s.lost == 0 && s.sent != s.number {
				s.due = now
			}
		}
		patient, pace := max(wait*9/10, pollRest), pollRate
		if plan != nil && s.accept(plan) {
			patient, pace = pollRest, planRate
			if plan.Spread > 0 {
				s.ready = now.Add(rand.N(1 + spreadOf(plan)))
			}
		}
		rest := pollRest
		if s.credit = min(pollBurst, s.credit+now.Sub(s.answered).Seconds()/pollRate.Seconds()); now.Sub(asked) < patient {
			s.credit = max(s.credit, 0) - 1
		}
		if s.credit < 0 {
			rest = pace
		}
		s.answered, s.next = now, now.Add(rest)
		if s.due.Sub(now) < s.soon() { // while the connection is free
			s.due = now
		}
	})
}

// pollFailed sets the pause after a failure. The caller has mu.
func (s *Source) pollFailed(err error) {
	s.failures++
	if s.failures == 1 {
		s.options.Logger.Warn("fleet: no hints from the server", slog.String("name", s.name), slog.Any("error", err))
	}
	pause := backoff(firstPollRetry, lastPollRetry, s.failures)
	var failed *Error
	if errors.As(err, &failed) && failed.After > pause {
		pause = min(failed.After, maxPollRetryAfter) + rand.N(pause)
	}
	if s.plan != nil { // many replicas have lost their server in the same moment
		pause += rand.N(1 + spreadOf(s.plan))
	}
	s.next, s.failure = time.Now().Add(pause), err
}

// backoff returns the pause after n failures in a row: between half of first, doubled
// with each failure up to last, and all of it.
func backoff(first, last time.Duration, n int) time.Duration {
	pause := min(last, first<<min(n-1, 20))
	return pause/2 + rand.N(pause/2)
}

// sleep waits until d has passed, and reports false if ctx ended first.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}
