package steer

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/aclements/go-moremath/stats"
	"gonum.org/v1/gonum/mathext"

	"github.com/poolswap/poolswap/fleet"
)

// A judge compares the replicas of a step with those on the stable revision, from the
// beginning of the step on, so both have the same hours. It knows two tests. Each
// says that the step is worse only if that still holds without any one replica, so
// one that lies can end no rollout.
//
//   - Errors. If both sides had the same rate, the errors of the step would be
//     binomial among all errors, with its share of the requests for a probability
//     (Przyborowski and Wilenski, 1940). That is tested with worseBy in favor of the
//     step.
//   - Latency, by the rank sum of Mann, Whitney and Wilcoxon over the replicas, with
//     worseBy in favor of the step.
//
// The chance that a good rollout is ended by mistake is below falseStop: each step
// and test has an equal part of it, and look k of a step takes 6/(pi k)^2 of that
// part. These add up to 1 (Euler), however many looks there are.
type judge struct {
	alpha  float64           // of each test of this step
	first  map[counter]tally // when the step began
	seen   time.Time         // the newest report of the last look
	looks  int
	stable string
}

const (
	falseStop = 0.001
	worseBy   = 1.1
	tests     = 2

	// A replica counts at most outlier times as much as the median of its side.
	outlier = 10

	// Its errors count up to fewErrors and outlierRate times the rate of the others.
	fewErrors   = 5
	outlierRate = 3
)

// counter names the counts of a replica that only grow.
type counter struct {
	id, revision string
	since        int64
}

type tally struct{ requests, errors float64 }

func newJudge(p *fleet.Plan) judge {
	return judge{alpha: falseStop / float64(len(p.Rollout.Steps)*tests), stable: p.Stable}
}

// look returns why the step is worse, or "". It looks once for each interval of the
// reports, when each replica may have told something new.
func (j *judge) look(p *fleet.Plan, replicas []fleet.Report) string {
	newest := j.seen
	for _, r := range replicas {
		if r.Received.After(newest) {
			newest = r.Received
		}
	}
	if j.first == nil {
		j.first, j.seen = map[counter]tally{}, newest
		for _, r := range replicas {
			if key, now, ok := tallyOf(r); ok {
				j.first[key] = now
			}
		}
		return ""
	}
	if len(replicas) == 0 || newest.Sub(j.seen) < every(replicas) {
		return ""
	}
	j.seen = newest
	alpha := j.spend()
	var trial, base side
	for _, r := range replicas {
		key, now, ok := tallyOf(r)
		if _, pinned := p.Pins[r.ID]; pinned || !ok {
			continue
		}
		since := now.without(j.first[key])
		switch selected := p.Canary.Includes(p.Canary.Revision, r.ID, r.Labels); {
		case selected && r.Revision == p.Canary.Revision:
			trial.add(since, r.Health.Latency)
		case !selected && r.Revision == j.stable:
			base.add(since, r.Health.Latency)
		}
	}
	trial.bound()
	base.bound()
	if why := moreErrors(trial.counts, base.counts, alpha); why != "" {
		return why
	}
	return slower(trial.latencies, base.latencies, alpha)
}

// spend returns the chance of a mistake that the next look may take.
func (j *judge) spend() float64 {
	j.looks++
	return j.alpha * 6 / (math.Pi * math.Pi * float64(j.looks) * float64(j.looks))
}

// every returns the median of the intervals at which replicas report.
func every(replicas []fleet.Report) time.Duration {
	all := make([]time.Duration, len(replicas))
	for i, r := range replicas {
		all[i] = r.Every
	}
	slices.Sort(all)
	return max(all[len(all)/2], time.Second)
}

// tallyOf returns the counts of a report, if it has some that can be.
func tallyOf(r fleet.Report) (counter, tally, bool) {
	if r.Health == nil || r.Health.Errors > r.Health.Requests {
		return counter{}, tally{}, false
	}
	return counter{r.ID, r.Revision, r.Since.UnixNano()}, tally{float64(r.Health.Requests), float64(r.Health.Errors)}, true
}

// side is the replicas of one revision.
type side struct {
	counts    []tally
	latencies []float64
}

func (s *side) add(t tally, latency time.Duration) {
	if t.requests > 0 && t.errors >= 0 { // counts that fall are wrong
		s.counts = append(s.counts, t)
	}
	if latency > 0 {
		s.latencies = append(s.latencies, float64(latency))
	}
}

// bound takes a replica that says to have done far more than the others, or far worse,
// for less: it must not hide how the others are.
func (s *side) bound() {
	if len(s.counts) == 0 {
		return
	}
	requests := make([]float64, len(s.counts))
	for i, t := range s.counts {
		requests[i] = t.requests
	}
	slices.Sort(requests)
	most := outlier * requests[len(requests)/2]
	for i, t := range s.counts {
		if t.requests > most {
			s.counts[i] = tally{most, t.errors * (most / t.requests)}
		}
	}
	all := sum(s.counts)
	for i, t := range s.counts {
		others := all.without(t)
		if others.requests > 0 {
			s.counts[i].errors = min(t.errors, fewErrors+outlierRate*t.requests*others.errors/others.requests)
		}
	}
}

// moreErrors says that trial has a higher rate of errors than base, if it has without
// any one replica of either.
func moreErrors(trial, base []tally, alpha float64) string {
	if len(trial) < 2 || len(base) < 2 {
		return ""
	}
	t, b := sum(trial), sum(base)
	if tail(t, b) > alpha {
		return ""
	}
	for _, one := range trial {
		if tail(t.without(one), b) > alpha {
			return ""
		}
	}
	for _, one := range base {
		if tail(t, b.without(one)) > alpha {
			return ""
		}
	}
	return fmt.Sprintf("%.3g %% of the requests to the new revision fail, and %.3g %% of those to the stable one", 100*t.errors/t.requests, 100*b.errors/b.requests)
}

func sum(all []tally) (t tally) {
	for _, one := range all {
		t.requests += one.requests
		t.errors += one.errors
	}
	return t
}

func (t tally) without(one tally) tally {
	return tally{t.requests - one.requests, t.errors - one.errors}
}

// tail returns the chance of so many errors of trial, or more, if its rate is at most
// worseBy times that of base.
func tail(trial, base tally) float64 {
	errors, all := math.Floor(trial.errors), math.Floor(trial.errors)+math.Ceil(base.errors)
	if errors <= 0 || trial.requests <= 0 || base.requests <= 0 {
		return 1
	}
	share := worseBy * trial.requests / (worseBy*trial.requests + base.requests)
	return mathext.RegIncBeta(errors, all-errors+1, share)
}

// slower says that trial has higher latencies than base, if it has without the slowest
// replica of the one and the fastest of the other.
func slower(trial, base []float64, alpha float64) string {
	if len(trial) < leastMembers+1 || len(base) < leastMembers+1 {
		return ""
	}
	slices.Sort(trial)
	slices.Sort(base)
	eased := make([]float64, len(trial)-1)
	for i := range eased {
		eased[i] = trial[i] / worseBy
	}
	result, err := stats.MannWhitneyUTest(eased, base[1:], stats.LocationGreater)
	if err != nil || result.P > alpha {
		return "" // an error: all are equal
	}
	return fmt.Sprintf("the median latency of the new revision is %v, and %v that of the stable one",
		time.Duration(trial[len(trial)/2]), time.Duration(base[len(base)/2]))
}
