package fleet

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/reload"
)

const (
	maxLabelBytes  = 4 << 10         // of a replica, as JSON
	reportPatience = 8 * time.Second // with one server
	sendTimeout    = 20 * time.Second
	leaveTimeout   = 2 * time.Second
)

// never is when a report is due that nothing asked for.
var never = time.Unix(1<<40, 0)

// reporter is the state of reporting. Source.mu guards it, but for leaving and leave.
type reporter struct {
	report  Report
	deltas  deltaCount
	number  uint64        // of report: one more with each change
	sent    uint64        // number of the last report that was sent
	lost    int           // reports in a row
	due     time.Time     // when Wait reports the next time
	sending chan struct{} // closed when the sender has ended; nil without one
	left    bool

	leaving context.Context // of senders
	leave   context.CancelFunc
}

// Observe reports an attempt, unless it changed nothing and Wait reports anyway: it is for
// reload.Options.Observe. It waits for nothing but SourceOptions.Health. A goroutine sends
// the newest report; it ends after a few seconds, or with Leave. A report that is lost is
// sent again while Wait runs, once that reaches a server.
func (s *Source) Observe(e reload.Event) {
	if errors.Is(e.Err, context.Canceled) {
		s.set(func() { s.busy = false })
		return // the program ends, or the attempt was given up: it says nothing of the replica
	}
	if s.health != nil && (e.Outcome == reload.Loaded || e.Outcome == reload.Unchanged) {
		s.health.restart(s.options.Logger)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.busy = false
	r, before := &s.report, s.report
	r.At, r.Version, r.Failed, r.Error, r.Held = e.At.UTC(), e.Version, "", "", ""
	r.Deltas = s.deltas.observe(e)
	r.Epoch, r.Seq = s.looked.epoch, s.looked.seq
	switch e.Outcome {
	case reload.Loaded:
		r.Revision, r.Since, r.Load = e.Revision, r.At, e.Load
	case reload.Unchanged:
		r.Revision, r.Since = e.Revision, r.At
	case reload.Failed, reload.StillRefused:
		r.Failed, r.Error = refusedIn(e.Err), shortError(e.Err)
		var held *poolswap.HeldError
		if errors.As(e.Err, &held) {
			r.Held = oneLine(held.Error())
		}
	}
	s.wake()
	same := e.Outcome == reload.NotModified && before.Error == "" && before.Version == r.Version && before.Epoch == r.Epoch && before.Seq == r.Seq
	if same && s.open && s.number > 0 { // a report is sent when it is due
		return
	}
	s.sendReport()
}

// reportNow reports if that is due.
func (s *Source) reportNow() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if now := time.Now(); !now.Before(s.due) {
		s.reportDue(now)
	}
}

// reportDue reports at now. The caller has mu.
func (s *Source) reportDue(now time.Time) {
	s.report.At = now.UTC()
	s.sendReport()
}

// sendReport lets a goroutine send the report. The caller has mu.
func (s *Source) sendReport() {
	if s.left {
		return
	}
	s.number++
	every := s.options.ReportEvery
	s.due = time.Now().Add(every - rand.N(every/10))
	if s.sending == nil && !s.cut() {
		s.sending = make(chan struct{})
		go s.send()
	}
}

// send sends the newest report until it is sent, or one is lost.
func (s *Source) send() {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer func() {
		close(s.sending)
		s.sending = nil
		s.wake()
	}()
	for s.sent != s.number && !s.left {
		number, report := s.number, s.report
		s.mu.Unlock()
		if s.health != nil && report.Revision != "" {
			report.Health = s.health.sample(s.options.Logger)
		}
		err := s.put(report)
		s.mu.Lock()
		if err != nil {
			s.reportLost(err)
			return
		}
		s.sent, s.lost = number, 0
	}
}

// put sends a report.
func (s *Source) put(report Report) error {
	ctx, cancel := context.WithTimeout(s.leaving, sendTimeout)
	defer cancel()
	_, err := s.client.do(ctx, s.replica("report of "+s.name, http.MethodPut, report))
	return err
}

func (s *Source) replica(op, method string, body any) *request {
	return &request{op: op, method: method, path: []string{"names", s.name, "replicas", s.options.ID}, body: body, patience: reportPatience}
}

// reportLost makes the next report due soon. The caller has mu.
func (s *Source) reportLost(err error) {
	s.lost++
	if s.left {
		return
	}
	if s.lost == 1 {
		s.options.Logger.Warn("fleet: a report was lost", slog.String("name", s.name), slog.Any("error", err))
	}
	pause := backoff(firstPollRetry, max(lastPollRetry, s.options.ReportEvery), s.lost)
	var failed *Error
	if errors.As(err, &failed) {
		pause = max(pause, min(failed.After, maxPollRetryAfter))
	}
	s.due = time.Now().Add(pause)
	s.wake()
}

// Leave says that the replica ends, so that it is no longer listed. Call it after
// Reloader.Run has returned. It waits 2 s at most, and no report is sent after it. A server forgets a replica that does not leave after ten
// minutes without a report.
func (s *Source) Leave() error {
	ctx, cancel := context.WithTimeout(context.Background(), leaveTimeout)
	defer cancel()
	s.mu.Lock()
	s.left, s.due = true, never
	sending := s.sending
	s.mu.Unlock()
	if sending != nil { // a report that arrived after Leave would list the replica again
		select {
		case <-sending:
		case <-ctx.Done():
		}
	}
	s.leave()
	if sending != nil {
		<-sending
	}
	_, err := s.client.do(ctx, s.replica("leave "+s.name, http.MethodDelete, nil))
	return err
}

// refusedIn returns the revision that an attempt refused, or "" for a failure that
// says nothing of the content, such as that of a connection.
func refusedIn(err error) string {
	var failure *reload.Error
	var refused *refusedError
	switch {
	case errors.As(err, &refused):
		return refused.revision
	case errors.As(err, &failure) && failure.Refused:
		return failure.Revision
	}
	return ""
}

// shortError leaves out the rest of the report, and the stack of a panic.
func shortError(err error) string {
	text := err.Error()
	var failure *reload.Error
	if errors.As(err, &failure) {
		text = fmt.Sprintf("%s: %v", failure.Stage, failure.Err)
	}
	line, _, _ := strings.Cut(text, "\n")
	return oneLine(line)
}

// healthCount makes counts since a revision became current from counts of the process,
// which begin anew if a part of the program does.
type healthCount struct {
	read func() Health

	mu   sync.Mutex // guards the fields below
	last Health     // as read gave it
	sum  Health     // since the last restart
}

// restart begins to count for another revision.
func (h *healthCount) restart(logger *slog.Logger) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.add(logger)
	h.sum = Health{}
}

// sample returns the counts since the last restart, or nil if read panics.
func (h *healthCount) sample(logger *slog.Logger) *Health {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.add(logger) {
		return nil
	}
	now := h.sum
	now.Errors = min(now.Errors, now.Requests) // read may have seen an error before its request
	now.Latency = max(0, h.last.Latency)
	return &now
}

// add adds the counts since the last call. The caller has mu.
func (h *healthCount) add(logger *slog.Logger) (ok bool) {
	defer func() {
		if value := recover(); value != nil {
			logger.Warn("fleet: SourceOptions.Health panicked", slog.Any("value", value))
		}
	}()
	now := h.read()
	h.sum.Requests += since(h.last.Requests, now.Requests)
	h.sum.Errors += since(h.last.Errors, now.Errors)
	h.last = now
	return true
}

// since returns by how much a counter grew, which may have begun anew.
func since(before, now uint64) uint64 {
	if now < before {
		return now
	}
	return now - before
}
