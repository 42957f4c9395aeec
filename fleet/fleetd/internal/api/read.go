package api

import (
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/poolswap/poolswap/fleet"
	"github.com/poolswap/poolswap/fleet/fleetd/internal/access"
)

// Entries of a page of the protocol.
const (
	pageEntries    = 100
	maxPageEntries = 1000
	maxPageBytes   = 1 << 20 // of reports, about
)

// limit returns how many entries a page is to have.
func (q *request) limit() (int, error) {
	text := q.query.Get("limit")
	if text == "" {
		return pageEntries, nil
	}
	limit, err := strconv.Atoi(text)
	if err != nil || limit < 1 {
		return 0, badRequest("limit is a number from 1 to %d, not %.100q", maxPageEntries, text)
	}
	return min(limit, maxPageEntries), nil
}

func (s *Server) getNames(q *request) error {
	names := []string{}
	for _, name := range s.store.Names() {
		if access.May(q.token, q.route.role, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return q.json(http.StatusOK, map[string][]string{"names": names})
}

// getStatus answers with the plan and the reports.
func (s *Server) getStatus(q *request) error {
	limit, err := q.limit()
	if err != nil {
		return err
	}
	status := fleet.Status{Name: q.name, Now: now().UTC(), Counts: map[fleet.State]int{}, Replicas: []fleet.Report{}}
	wanted := new(fleet.Plan)
	switch plan, err := s.plan(q.name); {
	case err == nil:
		status.Plan, wanted = plan.Plan, plan.Plan
	case !errors.Is(err, fleet.ErrNoPlan):
		return err
	}
	after := q.query.Get("after")
	all := s.store.Reports(q.name)
	for i := range all {
		status.Counts[all[i].State(wanted, status.Now)]++
	}
	from, found := slices.BinarySearchFunc(all, after, func(r fleet.Report, id string) int { return strings.Compare(r.ID, id) })
	if found {
		from++
	}
	end := from
	for bytes := 0; end < min(from+limit, len(all)) && bytes < maxPageBytes; end++ {
		bytes += sizeOf(&all[end])
	}
	status.Replicas = append(status.Replicas, all[from:end]...)
	if end < len(all) {
		status.Next = all[end-1].ID
	}
	return q.json(http.StatusOK, &status)
}

// sizeOf returns about how many bytes a report has.
func sizeOf(r *fleet.Report) int {
	size := reportCost + len(r.Error) + len(r.Held)
	for key, value := range r.Labels {
		size += len(key) + len(value)
	}
	return size
}

func (s *Server) getHistory(q *request) error {
	limit, err := q.limit()
	if err != nil {
		return err
	}
	before := q.query.Get("before")
	if before != "" {
		if _, _, err := parseVersion(before); err != nil {
			return badRequest("before: %v", err)
		}
	}
	ctx, cancel := q.within(storeTime)
	defer cancel()
	changes, err := s.store.History(ctx, q.name, before, limit)
	if err != nil {
		return err
	}
	return q.json(http.StatusOK, map[string][]fleet.Change{"changes": append([]fleet.Change{}, changes...)})
}

func (s *Server) getRevisions(q *request) error {
	ctx, cancel := q.within(storeTime)
	defer cancel()
	all, err := s.store.Revisions(ctx, q.name)
	if err != nil {
		return err
	}
	return q.json(http.StatusOK, map[string][]fleet.Stored{"revisions": append([]fleet.Stored{}, all...)})
}
