package api

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/poolswap/poolswap/fleet"
	"github.com/poolswap/poolswap/fleet/fleetd/internal/access"
	"github.com/poolswap/poolswap/fleet/fleetd/internal/steer"
)

// maxWait bounds a poll.
const maxWait = time.Minute

// plans has the plans as the server answers them: a change wakes ten thousand polls,
// and is encoded once.
type plans struct {
	mu      sync.Mutex
	byName  map[string]*encodedPlan
	waiting map[string]int // polls
}

// Where spreadFrom replicas or more wait, they fetch, report and dial anew over a time that
// has spreadEach for each of them. All at once, they time out, dial anew, and so keep a
// server too busy to answer.
const (
	spreadFrom = 500
	spreadEach = 2 * time.Millisecond
)

// wait counts a poll until leave is called.
func (p *plans) wait(name string) (leave func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.waiting[name]++
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.waiting[name]--; p.waiting[name] == 0 {
			delete(p.waiting, name)
		}
	}
}

// encodedPlan is a plan, encoded. Nothing writes to it.
type encodedPlan struct {
	*fleet.Plan
	spread time.Duration
	text   []byte
	etag   []string
}

// plan returns the newest plan of a name.
func (s *Server) plan(name string) (*encodedPlan, error) {
	plan, err := s.store.Plan(name)
	s.plans.mu.Lock()
	defer s.plans.mu.Unlock()
	if err != nil {
		delete(s.plans.byName, name)
		return nil, badPlan(name, err)
	}
	var spread time.Duration
	if n := s.plans.waiting[name]; n >= spreadFrom {
		spread = time.Duration(n) * spreadEach
	}
	last := s.plans.byName[name]
	if last != nil && last.Epoch == plan.Epoch && last.Seq == plan.Seq && spread <= 2*last.spread {
		return last, nil
	}
	next, err := s.encode(plan, spread)
	if err == nil {
		s.plans.byName[name] = next
	}
	return next, err
}

// encode returns a plan as the server answers it: with its mirrors.
func (s *Server) encode(plan *fleet.Plan, spread time.Duration) (*encodedPlan, error) {
	shown := *plan // the plan is shared
	shown.Mirrors, shown.Spread = nil, spread
	for _, mirror := range s.options.Mirrors {
		shown.Mirrors = append(shown.Mirrors, strings.TrimRight(mirror, "/")+"/"+url.PathEscape(plan.Name))
	}
	text, err := json.Marshal(&shown)
	if err != nil {
		return nil, fmt.Errorf("the plan of %q cannot be encoded: %w", plan.Name, err)
	}
	return &encodedPlan{plan, spread, append(text, '\n'), []string{strconv.Quote(plan.Version())}}, nil
}

// badPlan returns the error of a plan that cannot be read as the protocol answers it.
func badPlan(name string, err error) error {
	if f := asFailure(err); f.status != http.StatusInternalServerError {
		return err
	}
	return &failure{http.StatusInternalServerError, "bad_plan", fmt.Sprintf("the plan of %q cannot be read (fleetd repair replaces it): %s", name, bounded(err.Error(), 500)), 0}
}

// getPlan answers with the plan once it is later than the one that the client has.
func (s *Server) getPlan(q *request) error {
	epoch, seq, wait, err := q.poll()
	if err != nil {
		return err
	}
	has := q.query.Has("after")
	var timer <-chan time.Time
	for {
		changed := s.store.PlanChanged(q.name) // before Plan, so that no change is missed
		plan, err := s.plan(q.name)
		switch {
		case err == nil && plan.After(epoch, seq):
			if timer != nil {
				if err := s.again(q); err != nil {
					return err
				}
			}
			q.w.Header()["Etag"] = plan.etag
			return q.bytes(http.StatusOK, plan.text)
		case err != nil && !(has && errors.Is(err, fleet.ErrNoPlan)):
			return err
		}
		if timer == nil {
			if wait == 0 {
				return q.none()
			}
			t := time.NewTimer(wait)
			defer t.Stop()
			timer = t.C
			q.w.answerWithin(wait)
			s.metrics.polls.Inc()
			defer s.metrics.polls.Dec()
			defer s.plans.wait(q.name)()
		}
		select {
		case <-changed:
		case <-timer:
			return q.none()
		case <-s.draining:
			return q.none()
		case <-q.Context().Done():
			return q.Context().Err()
		}
	}
}

// poll returns the parameters of a poll.
func (q *request) poll() (epoch, seq uint64, wait time.Duration, err error) {
	if q.query.Has("after") {
		if epoch, seq, err = parseVersion(q.query.Get("after")); err != nil {
			return 0, 0, 0, badRequest("after: %v", err)
		}
	}
	if q.query.Has("wait") {
		if wait, err = time.ParseDuration(q.query.Get("wait")); err != nil || wait < 0 {
			return 0, 0, 0, badRequest("wait is a time such as 55s, not %.100q", q.query.Get("wait"))
		}
	}
	return epoch, seq, min(wait, maxWait), nil
}

// parseVersion returns epoch and seq of "EPOCH.SEQ".
func parseVersion(text string) (epoch, seq uint64, err error) {
	first, second, _ := strings.Cut(text, ".")
	epoch, err = strconv.ParseUint(first, 10, 53)
	if err == nil {
		seq, err = strconv.ParseUint(second, 10, 53)
	}
	if err != nil || first != strconv.FormatUint(epoch, 10) || second != strconv.FormatUint(seq, 10) {
		return 0, 0, fmt.Errorf("%.100q is no EPOCH.SEQ of a plan", text)
	}
	return epoch, seq, nil
}

// patchPlan changes the plan.
func (s *Server) patchPlan(q *request) error {
	at, err := q.ifMatch()
	if err != nil {
		return err
	}
	var op fleet.Operation
	if err := q.decode(maxSmallBody, &op); err != nil {
		return err
	}
	if op.Kind != fleet.KindPublish && !access.Has(q.token, fleet.OperatorRole) {
		return forbidden("a token of the role %s can publish and cannot %.20q: it takes %s", q.token.Role, op.Kind, fleet.OperatorRole)
	}
	if err := op.Check(); err != nil {
		return badRequest("%v", err)
	}
	ctx, cancel := q.within(storeTime)
	defer cancel()
	plan, err := steer.Do(ctx, s.store, q.name, at, q.token.Name, op)
	if err != nil {
		if _, bad := s.plan(q.name); bad != nil && !errors.Is(bad, fleet.ErrNoPlan) {
			return bad
		}
		return err
	}
	s.log(q, "the plan was changed", slog.String("kind", string(op.Kind)), slog.String("revision", plan.Change.To), slog.String("plan", plan.Version()), slog.String("why", op.Why))
	return s.answerPlan(q, plan)
}

func (s *Server) answerPlan(q *request, plan *fleet.Plan) error {
	encoded, err := s.encode(plan, 0)
	if err != nil {
		return err
	}
	q.w.Header()["Etag"] = encoded.etag
	return q.bytes(http.StatusOK, encoded.text)
}

// ifMatch returns the version of If-Match, or "" if there is none.
func (q *request) ifMatch() (string, error) {
	values := q.Header["If-Match"]
	if len(values) == 0 {
		return "", nil
	}
	at, err := strconv.Unquote(values[0])
	if err == nil {
		_, _, err = parseVersion(at)
	}
	if err != nil || len(values) > 1 {
		return "", badRequest(`If-Match is one "EPOCH.SEQ", in quotes`)
	}
	return at, nil
}
