package api

import (
	"encoding/json"
	"time"

	"github.com/poolswap/poolswap/fleet"
	"github.com/poolswap/poolswap/fleet/fleetd/internal/access"
)

// replica returns the id of a request about a replica, which its token is good for.
func (q *request) replica() (string, error) {
	id := q.PathValue("id")
	if err := fleet.CheckName("id of the replica", id); err != nil {
		return "", badRequest("%v", err)
	}
	if !access.MayReport(q.token, q.name, id) {
		return "", forbidden("the token is not for the reports of this replica")
	}
	return id, nil
}

// putReport takes the report of a replica.
func (s *Server) putReport(q *request) error {
	id, err := q.replica()
	if err != nil {
		return err
	}
	text, err := q.read(fleet.MaxReport)
	if err != nil {
		return err
	}
	if err := s.limits.report(q.token.ID, q.name, id, len(text)); err != nil {
		return err
	}
	var report fleet.Report
	if err := json.Unmarshal(text, &report); err != nil { // with fields of a later version
		return badRequest("the report cannot be read: %s", bounded(err.Error(), 500))
	}
	if report.ID != "" && report.ID != id {
		return badRequest("the report is of replica %q", bounded(report.ID, 128))
	}
	report.ID, report.Received = id, time.Time{} // the store knows when
	if err := report.Check(); err != nil {
		return badRequest("%v", err)
	}
	ctx, cancel := q.within(storeTime)
	defer cancel()
	if err := s.store.Report(ctx, q.name, report); err != nil {
		return err
	}
	return q.none()
}

// deleteReport takes a replica off the list that ends.
func (s *Server) deleteReport(q *request) error {
	id, err := q.replica()
	if err != nil {
		return err
	}
	ctx, cancel := q.within(storeTime)
	defer cancel()
	if err := s.store.Leave(ctx, q.name, id); err != nil {
		return err
	}
	return q.none()
}
