package store

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/poolswap/poolswap/fleet"
)

// MaxReplicas bounds the replicas of a name that report. It is more than one token may
// report for.
const MaxReplicas = 50_000

// reportState is the last report of a replica.
type reportState struct {
	report fleet.Report
	seq    uint64    // in the stream
	at     time.Time // it was stored
	taken  time.Time // this node heard of it
	gone   bool      // the replica has left
}

// setReport takes a report, or that a replica leaves.
func (m *memory) setReport(name, id string, e entry) error {
	n := m.name(name)
	if was := n.reports[id]; was != nil && e.seq <= was.seq {
		return nil
	}
	r := &reportState{seq: e.seq, at: e.at, taken: time.Now(), gone: len(e.data) == 0}
	if !r.gone {
		if err := json.Unmarshal(e.data, &r.report); err != nil {
			return err
		}
		if r.report.ID != id {
			return fmt.Errorf("it is of %q", r.report.ID)
		}
		r.report.Received = e.at
	}
	n.reports[id] = r
	n.reported.fire()
	return nil
}

// forget forgets reports.
func (n *nameState) forget(which func(*reportState) bool) {
	for id, r := range n.reports {
		if which(r) {
			delete(n.reports, id)
			n.reported.fire()
		}
	}
}

// forgetReports forgets the reports that JetStream forgets.
func (s *Store) forgetReports(now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, n := range s.memory.names {
		n.forget(func(r *reportState) bool { return now.Sub(r.at) > s.o.reportTTL })
	}
	s.memory.forgetOld(now)
}

// Report stores the report of a replica in place of its last one. All nodes list it
// for ten minutes.
func (s *Store) Report(ctx context.Context, name string, r fleet.Report) error {
	return named(name, s.report(ctx, name, r))
}

func (s *Store) report(ctx context.Context, name string, r fleet.Report) error {
	if err := errors.Join(s.usable(), checkName(name), refuse(fleet.CheckName("id of the replica", r.ID))); err != nil {
		return err
	}
	r.Received = time.Time{}
	text, err := json.Marshal(r)
	if err != nil {
		return refuse(err) // a time that can be read but not written
	}
	if len(text) > fleet.MaxReport {
		return errorOf(ErrTooLarge, "the report of %q has %d bytes, more than %d", r.ID, len(text), fleet.MaxReport)
	}
	s.mu.Lock()
	n := s.memory.names[name]
	many := n != nil && n.reports[r.ID] == nil && len(n.reports) >= MaxReplicas
	s.mu.Unlock()
	if many {
		return errorOf(ErrFull, "%d replicas report already", MaxReplicas)
	}
	return s.set(ctx, s.reports, subject(reportKind, name, r.ID), text, whatever)
}

// Leave forgets the report of a replica that ends.
func (s *Store) Leave(ctx context.Context, name, id string) error {
	if err := errors.Join(s.usable(), checkName(name), refuse(fleet.CheckName("id of the replica", id))); err != nil {
		return named(name, err)
	}
	s.mu.Lock()
	n := s.memory.names[name]
	known := n != nil && n.reports[id] != nil && !n.reports[id].gone
	s.mu.Unlock()
	if !known {
		return nil
	}
	return named(name, s.set(ctx, s.reports, subject(reportKind, name, id), nil, whatever))
}

// Reports returns the last reports of the replicas of a name, by id, as this node
// knows them, without a request.
func (s *Store) Reports(name string) []fleet.Report {
	now := time.Now()
	s.mu.Lock()
	var all []fleet.Report
	if n := s.memory.names[name]; n != nil {
		all = make([]fleet.Report, 0, len(n.reports))
		for _, r := range n.reports {
			if !r.gone && now.Sub(r.at) <= s.o.reportTTL {
				all = append(all, r.report)
			}
		}
	}
	s.mu.Unlock()
	slices.SortFunc(all, func(a, b fleet.Report) int { return cmp.Compare(a.ID, b.ID) })
	return all
}
