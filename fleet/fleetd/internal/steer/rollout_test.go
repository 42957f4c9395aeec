package steer

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/poolswap/poolswap/fleet"
)

// world is a simulated fleet with its store, which the driver drives. Its replicas
// follow the plan at once and report every health interval.
type world struct {
	t        *testing.T
	random   *rand.Rand
	plan     *fleet.Plan
	replicas []fleet.Report
	now      time.Time
	reached  float64 // the widest share that ran the new revision
	leader   bool
	changes  []fleet.Change
	ahead    []string
	repairs  int

	rate    func(revision string) float64       // of errors
	latency func(revision string) time.Duration // nil: none
	lie     func(r *fleet.Report)               // what a replica says in the end
}

const (
	healthEvery = 10 * time.Second
	requests    = 100 // of a replica in that time
)

// errors returns how many of requests fail, at random.
func (w *world) errors(rate float64) uint64 {
	table := tables[rate]
	if table == nil {
		for n := range requests {
			table = append(table, distuv.Binomial{N: requests, P: rate}.CDF(float64(n)))
		}
		tables[rate] = table
	}
	u := w.random.Float64()
	n := 0
	for n < len(table) && table[n] < u {
		n++
	}
	return uint64(n)
}

// tables are the cumulative distributions by rate.
var tables = map[float64][]float64{}

func newWorld(t *testing.T, seed uint64, replicas int, steps ...float64) *world {
	w := &world{t: t, random: rand.New(rand.NewPCG(seed, 1)), now: time.Unix(1e9, 0), leader: true}
	w.rate = func(string) float64 { return 0.01 }
	for i := range replicas {
		w.replicas = append(w.replicas, fleet.Report{ID: fmt.Sprintf("r%d-%d", seed, i), Every: healthEvery, Since: w.now, Received: w.now})
	}
	w.plan = planOf(t, nil, publish("old"))
	w.work()
	if err := apply(w.plan, fleet.Operation{Kind: fleet.KindRollout, Revision: "new", Steps: steps, Bake: 6 * healthEvery}, w.replicas); err != nil {
		t.Fatal(err)
	}
	return w
}

// work lets an interval pass.
func (w *world) work() {
	w.now = w.now.Add(healthEvery)
	running := 0
	for i := range w.replicas {
		r := &w.replicas[i]
		if want := w.plan.Wanted(r.ID, r.Labels).ID; want != r.Revision {
			r.Revision, r.Since, r.Health = want, w.now, &fleet.Health{}
		} else {
			r.Health = &fleet.Health{Requests: r.Health.Requests + requests, Errors: r.Health.Errors + w.errors(w.rate(r.Revision))}
			if w.latency != nil {
				r.Health.Latency = w.latency(r.Revision)
			}
		}
		if r.Revision == "new" {
			running++
		}
		r.Epoch, r.Seq, r.Received = w.plan.Epoch, w.plan.Seq, w.now
		if w.lie != nil {
			w.lie(r)
		}
	}
	w.reached = max(w.reached, float64(running)/float64(len(w.replicas)))
}

// drive lets the driver look after each interval, until the rollout is over.
func (w *world) drive(d *driver, most int) (intervals int) {
	for intervals = 1; intervals <= most && w.plan.Rollout != nil; intervals++ {
		w.work()
		d.round(context.Background(), w.now)
	}
	return intervals - 1
}

func (w *world) driver() *driver {
	return newDriver(w, slog.New(slog.DiscardHandler))
}

func (w *world) Leader() bool                       { return w.leader }
func (w *world) Names() []string                    { return []string{"n"} }
func (w *world) Plan(string) (*fleet.Plan, error)   { return w.plan, nil }
func (w *world) Reports(string) []fleet.Report      { return w.replicas }
func (w *world) Ahead(string) []string              { return w.ahead }
func (w *world) ended() (stable string, ended bool) { return w.plan.Stable, w.plan.Rollout == nil }
func (w *world) Change(_ context.Context, _, at, by string, f func(*fleet.Plan, *fleet.Change) error) (*fleet.Plan, error) {
	if at != w.plan.Version() {
		return nil, fleet.ErrConflict
	}
	next := w.plan.Clone()
	change := fleet.Change{By: by, At: w.now}
	if err := f(next, &change); err != nil {
		return nil, err
	}
	next.Seq++
	next.Change = change
	w.plan, w.changes = next, append(w.changes, change)
	return next, nil
}

func (w *world) Repair(_ context.Context, _, by, revision, why string) (*fleet.Plan, error) {
	if by != Author || revision != "" || !strings.Contains(why, w.ahead[0]) {
		w.t.Errorf("Repair by %q with revision %q: %s", by, revision, why)
	}
	w.repairs++
	return w.plan, nil
}

// The chances that the documentation states. simulations is 1,000 of each; -short takes
// fewer.
func simulations() int {
	if testing.Short() {
		return 40
	}
	return 1000
}

func TestRolloutThatDoublesErrorsEndsAtItsFirstStep(t *testing.T) {
	missed := 0
	for seed := range simulations() {
		w := newWorld(t, uint64(seed), 1000, 0.05, 0.25, 1)
		w.rate = func(revision string) float64 { return map[string]float64{"old": 0.01, "new": 0.02}[revision] }
		intervals := w.drive(w.driver(), 1000)
		if stable, ended := w.ended(); !ended || stable != "old" {
			t.Fatalf("seed %d: after %d intervals %s is stable", seed, intervals, stable)
		}
		// One interval to load the revision, two that count.
		if w.reached > 0.075 || intervals > 3 {
			missed++
		}
	}
	t.Logf("%d of %d took longer or went further", missed, simulations())
	if missed*100 > simulations() {
		t.Errorf("%d of %d bad rollouts took more than two intervals of health, or passed their first step", missed, simulations())
	}
}

func TestGoodRolloutIsNotEnded(t *testing.T) {
	wrong, intervals := 0, 0
	for seed := range simulations() {
		w := newWorld(t, uint64(seed), 1000, 0.05, 0.25)
		intervals += w.drive(w.driver(), 1000)
		if stable, ended := w.ended(); !ended {
			t.Fatalf("seed %d: it has not ended", seed)
		} else if stable != "new" {
			wrong++
			t.Log(w.plan.Change.Why)
		}
	}
	t.Logf("%d of %d, %d intervals", wrong, simulations(), intervals)
	if wrong > 1 {
		t.Errorf("%d of %d good rollouts were ended", wrong, simulations())
	}
}

func TestRolloutSlowerIsEnded(t *testing.T) {
	for _, test := range []struct {
		name  string
		times float64
		want  string
	}{{"twice as slow", 2, "old"}, {"as slow", 1, "new"}, {"a little slower", 1.05, "new"}} {
		t.Run(test.name, func(t *testing.T) {
			w := newWorld(t, 1, 200, 0.1, 0.5)
			w.latency = func(revision string) time.Duration {
				latency := 1000 + 100*w.random.NormFloat64()
				if revision == "new" {
					latency *= test.times
				}
				return time.Duration(latency)
			}
			w.drive(w.driver(), 1000)
			if stable, ended := w.ended(); !ended || stable != test.want {
				t.Errorf("%s is stable: %s", stable, w.plan.Change.Why)
			}
		})
	}
}

// lies are what one replica says in order to end a good rollout, at now.
var lies = map[string]func(r *fleet.Report, now uint64){
	"all its requests fail":     func(r *fleet.Report, now uint64) { r.Health = &fleet.Health{Requests: now * 1e6, Errors: now * 1e6} },
	"none of very many fails":   func(r *fleet.Report, now uint64) { r.Health = &fleet.Health{Requests: now * 1e9} },
	"more errors than requests": func(r *fleet.Report, now uint64) { r.Health = &fleet.Health{Requests: now, Errors: now * 1e6} },
	"its counts fall":           func(r *fleet.Report, now uint64) { r.Health = &fleet.Health{Requests: 1e12 - now, Errors: now} },
	"it is slow":                func(r *fleet.Report, _ uint64) { r.Health.Latency = 1 << 62 },
	"it is fast":                func(r *fleet.Report, _ uint64) { r.Health.Latency = 1 },
	"it refuses":                func(r *fleet.Report, _ uint64) { r.Failed, r.Error, r.Revision = "new", "bad", "old" },
	"it is silent":              func(r *fleet.Report, _ uint64) { r.Received = r.Received.Add(-time.Hour) },
	"it is gone":                func(r *fleet.Report, _ uint64) { r.ID = "gone" },
	"it waits":                  func(r *fleet.Report, _ uint64) { r.Revision = "old" },
}

func TestOneReplicaThatLiesEndsNoRollout(t *testing.T) {
	for name, lie := range lies {
		for _, size := range []int{10, 1000} {
			t.Run(fmt.Sprintf("%s, of %d", name, size), func(t *testing.T) {
				for _, liar := range []int{0, 1} { // of the first step, and not
					w := newWorld(t, 7, size, 0.05, 0.5)
					w.latency = func(string) time.Duration { return time.Duration(1000 + 100*w.random.NormFloat64()) }
					at := slices.IndexFunc(w.replicas, func(r fleet.Report) bool {
						return w.plan.Canary.Includes("new", r.ID, nil) == (liar == 0)
					})
					id := w.replicas[at].ID
					w.lie = func(r *fleet.Report) {
						if r.ID == id {
							lie(r, uint64(w.now.Unix()))
						}
					}
					w.drive(w.driver(), 1000)
					if stable, ended := w.ended(); !ended || stable != "new" {
						t.Errorf("liar %d: %s is stable: %s", liar, stable, w.plan.Change.Why)
					}
				}
			})
		}
	}
}

func TestReplicasThatFailEndARollout(t *testing.T) {
	for _, name := range []string{"it refuses", "it is silent"} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, 3, 100, 0.1, 1)
			w.lie = func(r *fleet.Report) {
				if w.plan.Wanted(r.ID, nil).ID == "new" {
					lies[name](r, 0)
				}
			}
			w.drive(w.driver(), 100)
			if stable, ended := w.ended(); !ended || stable != "old" || w.plan.Change.Kind != fleet.KindRollback || w.plan.Change.By != Author {
				t.Errorf("%s is stable after %+v", stable, w.plan.Change)
			}
		})
	}
	t.Run("silence of all ends none", func(t *testing.T) {
		w := newWorld(t, 3, 100, 0.1, 1)
		w.lie = func(r *fleet.Report) { lies["it is silent"](r, 0) }
		w.drive(w.driver(), 100)
		if _, ended := w.ended(); ended {
			t.Errorf("it ended: %+v", w.plan.Change)
		}
	})
}

// Pinned replicas are of neither side: some stay behind, and all requests to the others,
// which have tried the revision before the rollout, fail.
func TestPinnedReplicasDoNotCount(t *testing.T) {
	w := newWorld(t, 3, 100, 0.3)
	w.plan.Pins = map[string]string{}
	for i, r := range w.replicas {
		if i%3 == 0 {
			w.plan.Pins[r.ID] = []string{"old", "new"}[i%2]
		}
	}
	w.lie = func(r *fleet.Report) {
		if w.plan.Pins[r.ID] == "new" {
			lies["all its requests fail"](r, uint64(w.now.Unix()))
		}
	}
	w.drive(w.driver(), 100)
	if stable, ended := w.ended(); !ended || stable != "new" {
		t.Errorf("%s is stable: %+v", stable, w.plan.Change)
	}
}

func TestFailoverBeginsTheBakeAnew(t *testing.T) {
	w := newWorld(t, 5, 50, 0.2, 0.5)
	drive := func(d *driver, intervals, step int) {
		t.Helper()
		for i := range intervals {
			w.work()
			d.round(context.Background(), w.now)
			if w.plan.Rollout == nil || w.plan.Rollout.Step != step {
				t.Fatalf("interval %d of step %d: the plan is %+v", i, step, w.plan)
			}
		}
	}
	for step := range 3 { // 0.2, 0.5, and the 1 that was added
		drive(w.driver(), 5, step) // of six intervals of the bake
		second := w.driver()
		drive(second, 6, step)
		w.work()
		second.round(context.Background(), w.now)
	}
	if w.plan.Stable != "new" || w.plan.Rollout != nil {
		t.Errorf("the plan in the end is %+v", w.plan)
	}
	steps := 0
	for _, c := range w.changes {
		if c.Kind == fleet.KindWiden {
			steps++
		}
	}
	if steps != 2 {
		t.Errorf("%d steps were taken, want 2: %+v", steps, w.changes)
	}
	t.Run("a driver that leads again begins anew", func(t *testing.T) {
		w := newWorld(t, 5, 50, 0.2)
		d := w.driver()
		w.drive(d, 4)
		w.leader = false
		w.drive(d, 4)
		w.leader = true
		if w.drive(d, 6); w.plan.Rollout == nil || w.plan.Rollout.Step != 0 {
			t.Errorf("the plan is %+v", w.plan)
		}
		if w.drive(d, 1); w.plan.Rollout == nil || w.plan.Rollout.Step != 1 {
			t.Errorf("the plan after the bake is %+v", w.plan)
		}
	})
	t.Run("a driver that leads no more does nothing", func(t *testing.T) {
		w := newWorld(t, 5, 50, 0.2)
		w.leader = false
		if w.drive(w.driver(), 50); w.plan.Rollout == nil || w.plan.Rollout.Step != 0 {
			t.Errorf("the plan is %+v", w.plan)
		}
	})
}

func TestGuardHoldsACanaryThatAReplicaRefuses(t *testing.T) {
	w := newWorld(t, 5, 20, 0.2)
	if err := apply(w.plan, fleet.Operation{Kind: fleet.KindCanary, Revision: "new", Selection: fleet.Selection{Share: 0.5}}, w.replicas); err != nil {
		t.Fatal(err)
	}
	early := w.plan.Seq - 1
	bad := slices.IndexFunc(w.replicas, func(r fleet.Report) bool { return w.plan.Canary.Includes("new", r.ID, nil) })
	d := w.driver()
	w.work()
	w.replicas[bad].Failed, w.replicas[bad].Error, w.replicas[bad].Seq = "new", "row 3 is bad", early
	d.round(context.Background(), w.now)
	if w.plan.Canary.Hold != "" {
		t.Fatalf("a report of before the canary put it on hold: %s", w.plan.Canary.Hold)
	}
	w.replicas[bad].Seq = w.plan.Seq
	d.round(context.Background(), w.now)
	if want := w.replicas[bad].ID + ": row 3 is bad"; w.plan.Canary.Hold != want || w.plan.Change.Kind != fleet.KindHold {
		t.Fatalf("the hold is %q, want %q", w.plan.Canary.Hold, want)
	}
	w.replicas[bad].Failed, w.replicas[bad].Error = "", ""
	for i := range w.replicas {
		w.replicas[i].Revision = "new"
	}
	if err := apply(w.plan, fleet.Operation{Kind: fleet.KindPromote}, w.replicas); err == nil {
		t.Error("a canary on hold was promoted")
	}
}

func TestNewEpochWhereReplicasAreAhead(t *testing.T) {
	w := newWorld(t, 5, 20, 0.2)
	d := w.driver()
	d.round(context.Background(), w.now)
	if w.repairs != 0 {
		t.Fatal("an epoch began, and no replica is ahead")
	}
	w.ahead = []string{"r7"}
	for range 3 {
		d.round(context.Background(), w.now)
	}
	if w.repairs != 1 {
		t.Errorf("%d epochs began within a moment, want 1", w.repairs)
	}
	w.now = w.now.Add(2 * overtakePause)
	if d.round(context.Background(), w.now); w.repairs != 1 {
		t.Errorf("%d epochs after the pause: one replica that lies begins them again and again", w.repairs)
	}
	for _, r := range w.replicas[:len(w.replicas)/2+1] {
		w.ahead = append(w.ahead, r.ID)
	}
	if d.round(context.Background(), w.now); w.repairs != 2 {
		t.Errorf("%d epochs where most replicas are ahead, want 2", w.repairs)
	}
}

// A hash may choose five of six replicas for a step of half of them.
func TestStepLeavesReplicasToCompareWith(t *testing.T) {
	for seed := range uint64(20) {
		for n := 5; n < 9; n++ {
			w := newWorld(t, seed, n, 0.5, 0.9, 1)
			g := groupOf(w.plan, w.replicas)
			if g.members < leastMembers || g.others < leastOthers {
				t.Errorf("%d of %d replicas try the revision", g.members, n)
			}
			if n > 5 {
				w.replicas = w.replicas[1:] // one leaves
			}
			first := w.plan.Canary.Share
			w.drive(w.driver(), 8)
			if w.plan.Rollout == nil || w.plan.Rollout.Step != 1 || w.plan.Canary.Share < first {
				t.Errorf("after a step of %g the plan is %+v", first, w.plan.Canary)
			}
		}
		w := newWorld(t, seed, 6, 0.9, 1)
		w.rate = func(revision string) float64 { return map[string]float64{"old": 0.05, "new": 0.2}[revision] }
		w.drive(w.driver(), 100)
		if stable, ended := w.ended(); stable != "old" || !ended {
			t.Errorf("a bad revision in a fleet of six: stable %s", stable)
		}
	}
}
