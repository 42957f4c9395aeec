package fleet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/reload"
)

// Report is what a replica says of itself after each attempt to reload. One that
// is silent for SetupOptions.ReportTTL is forgotten.
type Report struct {
	ID       string        `json:"id"`
	At       time.Time     `json:"at"`                 // of the attempt, by the clock of the replica as Since is
	Revision string        `json:"revision,omitempty"` // that it runs
	Version  uint64        `json:"version,omitempty"`  // of its container
	Since    time.Time     `json:"since,omitzero"`     // it runs the revision
	Load     time.Duration `json:"load,omitempty"`     // nanoseconds that loading it took
	Epoch    uint64        `json:"epoch,omitempty"`    // of the plan that it follows
	Seq      uint64        `json:"seq,omitempty"`      // of the plan that it follows
	Failed   string        `json:"failed,omitempty"`   // the revision that it refused: its content or its signature is bad
	Error    string        `json:"error,omitempty"`    // of the last attempt, if that failed
	Held     string        `json:"held,omitempty"`     // what readers hold, if a reload waited for it in vain
}

// State is a report in a word: "running" for a revision that the plan wants,
// "waiting" for one that it does not, "failing", or "empty".
func (r *Report) State(plan *Plan) string {
	switch {
	case r.Error != "":
		return "failing"
	case r.Revision == "":
		return "empty"
	case r.Revision != plan.Wanted(r.ID).ID:
		return "waiting"
	}
	return "running"
}

// Observe reports an attempt: it is for reload.Options.Observe. It waits for
// nothing; a report that is lost is followed by another after the next attempt.
func (s *Source) Observe(e reload.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := &s.report
	r.At, r.Version, r.Failed, r.Error, r.Held = e.At.UTC(), e.Version, "", "", ""
	if s.plan != nil {
		r.Epoch, r.Seq = s.plan.Epoch, s.plan.Seq
	}
	switch e.Outcome {
	case reload.Loaded:
		r.Revision, r.Since, r.Load = e.Revision, r.At, e.Load
	case reload.Unchanged:
		r.Revision, r.Since = e.Revision, r.At
	case reload.Failed, reload.StillRefused:
		r.Failed, r.Error = refusedIn(e.Err), shortError(e.Err)
		var held *poolswap.HeldError
		if errors.As(e.Err, &held) {
			r.Held = bounded(held.Error())
		}
	}
	text, err := json.Marshal(r)
	if err != nil {
		return
	}
	s.store.conn.Publish("$KV."+reportsBucket+"."+reportKey(s.store.name, r.ID), text) //nolint:errcheck // see above
}

// refusedIn returns the revision that an attempt refused, or "" for a failure that
// says nothing of the content, as that of a connection.
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

// Leave says that the replica ends, so that it is no longer listed, nor chosen for
// a canary. Call it after Reloader.Run has returned and before the connection is
// closed. It waits 2 s at most, and without a connection not at all. A replica that
// cannot is forgotten after SetupOptions.ReportTTL.
func (s *Source) Leave() error {
	if !s.store.conn.IsConnected() {
		return s.store.named(s.store.notConnected())
	}
	message := nats.NewMsg("$KV." + reportsBucket + "." + reportKey(s.store.name, s.options.ID))
	message.Header.Set("KV-Operation", "DEL") // ADR-8 of NATS
	ctx, cancel := context.WithTimeout(context.Background(), connectTimeout)
	defer cancel()
	err := s.store.open(ctx)
	if err == nil {
		_, err = s.store.js.PublishMsg(ctx, message) // returns once it is stored: a status has it then
	}
	return s.store.named(err)
}

func reportKey(name, id string) string { return token(name) + "." + token(id) }

// shortError leaves out what the rest of the report says, and the stack of
// a panic.
func shortError(err error) string {
	text := err.Error()
	var failure *reload.Error
	if errors.As(err, &failure) {
		text = fmt.Sprintf("%s: %v", failure.Stage, failure.Err)
	}
	line, _, _ := strings.Cut(text, "\n")
	return bounded(line)
}

// maxText is how many bytes of an error are reported: it can quote content, and a
// message that the server does not take would hide the failure.
const maxText = 1000

// bounded returns how a text begins.
func bounded(text string) string {
	if len(text) <= maxText {
		return text
	}
	return strings.ToValidUTF8(text[:maxText], "") + "…"
}

// Status is what a fleet is to run, and runs.
type Status struct {
	Name     string   `json:"name"`
	Plan     *Plan    `json:"plan"`
	Replicas []Report `json:"replicas"` // by id
}

// status returns the plan and the reports that there are.
func (s *store) status(ctx context.Context) (*Status, error) {
	plan, _, noPlan := s.plan(ctx)
	if noPlan != nil && !errors.Is(noPlan, ErrNoPlan) {
		return nil, noPlan
	}
	replicas, err := s.replicas(ctx)
	if err != nil {
		return nil, err
	}
	return &Status{s.name, plan, replicas}, noPlan
}

func (s *store) openReports(ctx context.Context) (jetstream.KeyValue, error) {
	if err := s.open(ctx); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.reports == nil {
		reports, err := s.js.KeyValue(ctx, reportsBucket)
		if err != nil {
			return nil, notSetUp(err)
		}
		s.reports = reports
	}
	return s.reports, nil
}

// replicas returns the reports, by id.
func (s *store) replicas(ctx context.Context) (all []Report, err error) {
	ctx, cancel := within(ctx)
	defer cancel()
	reports, err := s.openReports(ctx)
	if err != nil {
		return nil, err
	}
	for {
		if all, err = s.listReports(ctx, reports); !errors.Is(err, errSilent) {
			return all, explained(ctx, err)
		}
	}
}

// A watcher tells when it has sent what there was in the beginning: nats.go counts
// that. If the server forgets a report before it sends it, nothing tells. So after
// reportSilence without a report the watcher is replaced.
const reportSilence = time.Second

var errSilent = errors.New("a report was forgotten while the reports were listed")

// listReports returns the reports, by id, or errSilent.
func (s *store) listReports(ctx context.Context, reports jetstream.KeyValue) (all []Report, err error) {
	watcher, stop, err := s.watchReports(ctx, reports, jetstream.IgnoreDeletes())
	if err != nil {
		return nil, err
	}
	defer stop()
	silence := time.NewTimer(reportSilence)
	defer silence.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-silence.C:
			return nil, errSilent
		case entry, open := <-watcher.Updates():
			if !open {
				return nil, errors.New("the watcher of reports was closed")
			}
			if entry == nil {
				slices.SortFunc(all, func(a, b Report) int { return strings.Compare(a.ID, b.ID) })
				return all, nil
			}
			silence.Reset(reportSilence)
			var r Report
			if json.Unmarshal(entry.Value(), &r) != nil || reportKey(s.name, r.ID) != entry.Key() {
				continue // a replica that writes nonsense must not hide the others
			}
			all = append(all, r)
		}
	}
}

// watchReports watches the reports. ctx does not end the making of the
// watcher, which takes a request: nats.go would leave a goroutine behind if it
// ended while many reports are on their way.
func (s *store) watchReports(ctx context.Context, reports jetstream.KeyValue, options ...jetstream.WatchOpt) (jetstream.KeyWatcher, func(), error) {
	return s.watchKeys(context.WithoutCancel(ctx), reports, token(s.name)+".*", options...)
}
