package api

import (
	"log/slog"
	"net/http"

	"github.com/poolswap/poolswap/fleet"
)

// postVerify reads all stored content of a name. It takes its time, one name at once.
func (s *Server) postVerify(q *request) error {
	select {
	case s.verify <- struct{}{}:
		defer func() { <-s.verify }()
	default:
		return tooMany(retryAfter, "the server verifies already")
	}
	q.w.endDeadline()
	checked, damaged, err := s.store.Verify(q.Context(), q.name)
	if err != nil {
		return err
	}
	if len(damaged) > 0 {
		s.options.Logger.Error("fleetd: stored content is damaged", append(q.attributes(), slog.Any("revisions", damaged))...)
	}
	return q.json(http.StatusOK, map[string]any{"checked": checked, "damaged": append([]string{}, damaged...)})
}

// postRepair replaces a plan that cannot be read, or begins an epoch of one that can.
func (s *Server) postRepair(q *request) error {
	var body struct {
		Revision string `json:"revision"`
		Why      string `json:"why"`
	}
	if err := q.decode(maxSmallBody, &body); err != nil {
		return err
	}
	if len(body.Why) > fleet.MaxWhy {
		return badRequest("the reason has %d bytes, more than %d", len(body.Why), fleet.MaxWhy)
	}
	ctx, cancel := q.within(storeTime)
	defer cancel()
	plan, err := s.store.Repair(ctx, q.name, q.token.Name, body.Revision, body.Why)
	if err != nil {
		return err
	}
	s.log(q, "the plan was repaired", slog.String("revision", body.Revision), slog.String("plan", plan.Version()), slog.String("why", body.Why))
	return s.answerPlan(q, plan)
}

// deleteName removes a name with all that is stored of it.
func (s *Server) deleteName(q *request) error {
	why := q.query.Get("why")
	if len(why) > fleet.MaxWhy {
		return badRequest("the reason has %d bytes, more than %d", len(why), fleet.MaxWhy)
	}
	q.w.endDeadline() // there may be much
	if err := s.store.Remove(q.Context(), q.name); err != nil {
		return err
	}
	s.log(q, "a name was removed", slog.String("why", why))
	return q.none()
}

func (s *Server) getHealth(q *request) error {
	return q.json(http.StatusOK, map[string]string{"status": "ok"})
}

// getReady answers whether this node can serve changes now.
func (s *Server) getReady(q *request) error {
	err := s.store.Ready()
	select {
	case <-s.draining:
		return &failure{http.StatusServiceUnavailable, "unavailable", "the server ends", retryAfter}
	default:
	}
	if err != nil {
		return &failure{http.StatusServiceUnavailable, "unavailable", bounded(err.Error(), 500), retryAfter}
	}
	return q.json(http.StatusOK, map[string]string{"status": "ready"})
}
