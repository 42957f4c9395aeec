package fleet

import (
	"fmt"
	"time"
)

// MaxReport bounds the bytes of a report on the wire.
const MaxReport = 8 << 10

// Report is the state of a replica as it describes itself: after each attempt to
// reload that changed it, and at an interval.
type Report struct {
	ID       string            `json:"id"`
	At       time.Time         `json:"at"`                 // by the clock of the replica, as Since
	Every    time.Duration     `json:"every_ns"`           // until the next report, at most
	Labels   map[string]string `json:"labels,omitempty"`   //
	Revision string            `json:"revision,omitempty"` // current
	Version  uint64            `json:"version,omitempty"`  // of its container
	Since    time.Time         `json:"since,omitzero"`     // it runs the revision
	Load     time.Duration     `json:"load_ns,omitempty"`  // of loading it
	Epoch    uint64            `json:"epoch,omitempty"`    // of the plan that it follows
	Seq      uint64            `json:"seq,omitempty"`      // of the plan that it follows
	Failed   string            `json:"failed,omitempty"`   // the revision that it refused: its content or its signature is bad
	Error    string            `json:"error,omitempty"`    // of the last attempt, if that failed
	Held     string            `json:"held,omitempty"`     // objects that readers hold, if a reload waited for them in vain
	Health   *Health           `json:"health,omitempty"`   // since it runs Revision
	Deltas   *Deltas           `json:"deltas,omitempty"`   // since its process began, if there were any
	Received time.Time         `json:"received,omitzero"`  // by the clock of the server, which sets it
}

// Health is the work of a replica with one revision. Requests and Errors count from
// Report.Since on.
type Health struct {
	Requests uint64        `json:"requests"`
	Errors   uint64        `json:"errors"`               // of Requests
	Latency  time.Duration `json:"latency_ns,omitempty"` // now: a percentile or mean of the caller's choice, the same on every replica; 0: unknown
}

// State is a report in a word.
type State string

// The states of a replica.
const (
	Running State = "running" // it runs the revision that the plan wants
	Waiting State = "waiting" // it runs another one
	Failing State = "failing" // its last attempt failed
	Empty   State = "empty"   // it runs nothing
	Silent  State = "silent"  // its reports are overdue
)

// State returns the state of the replica at now, by the clock of the server.
func (r *Report) State(plan *Plan, now time.Time) State {
	switch {
	case !r.Received.IsZero() && now.Sub(r.Received) > 2*r.Every+5*time.Second:
		return Silent
	case r.Error != "":
		return Failing
	case r.Revision == "":
		return Empty
	case r.Revision != plan.Wanted(r.ID, r.Labels).ID:
		return Waiting
	}
	return Running
}

// Status is the plan of a name and the reports of its replicas.
type Status struct {
	Name     string        `json:"name"`
	Now      time.Time     `json:"now"` // by the clock of the server
	Plan     *Plan         `json:"plan"`
	Counts   map[State]int `json:"counts"`         // of all replicas
	Replicas []Report      `json:"replicas"`       // by id
	Next     string        `json:"next,omitempty"` // the id after which the next page begins
}

// maxLabels bounds the labels of a replica.
const maxLabels = 20

func checkLabels(labels map[string]string) error {
	if len(labels) > maxLabels {
		return fmt.Errorf("%d labels are more than %d", len(labels), maxLabels)
	}
	for key, value := range labels {
		if err := CheckName("name of a label", key); err != nil {
			return err
		}
		if err := CheckName("label "+key, value); err != nil {
			return err
		}
	}
	return nil
}

// MaxReportEvery bounds Report.Every: the server forgets a replica after ten minutes.
const MaxReportEvery = 5 * time.Minute

// Check returns an error for a report that no replica sends.
func (r *Report) Check() error {
	if err := CheckName("id of the replica", r.ID); err != nil {
		return err
	}
	if err := checkLabels(r.Labels); err != nil {
		return err
	}
	for kind, revision := range map[string]string{"revision": r.Revision, "failed revision": r.Failed} {
		if revision == "" {
			continue
		}
		if err := CheckName(kind, revision); err != nil {
			return err
		}
	}
	switch {
	case r.Every <= 0 || r.Every > MaxReportEvery:
		return fmt.Errorf("every_ns is %d: it is above 0, and at most %d (%v)", r.Every, MaxReportEvery, MaxReportEvery)
	case r.Health != nil && r.Health.Errors > r.Health.Requests:
		return fmt.Errorf("%d errors of %d requests", r.Health.Errors, r.Health.Requests)
	case r.Deltas != nil && r.Deltas.Saved < 0:
		return fmt.Errorf("deltas saved %d bytes", r.Deltas.Saved)
	}
	return nil
}
