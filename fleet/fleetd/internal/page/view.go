package page

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/poolswap/poolswap/fleet"
)

const (
	maxNames    = 50  // whose status is asked for
	maxReplicas = 200 // that are shown, those with trouble first
	maxRecord   = 50  // revisions and changes that are shown, the newest first
)

// fleetView is what the page of a name shows.
type fleetView struct {
	Name, By string
	Now      time.Time
	Status   *fleet.Status // nil: it is not known
	*record                // nil: it is not known

	Trouble string // why what is shown is not the newest
	code    int    // of the answer, if an action does not say another
	Error   string // why an action was refused
	Why     string // what was typed then
}

// fail says what could not be read.
func (v *fleetView) fail(err error) {
	switch {
	case err == nil:
		v.code = http.StatusOK
	case errors.Is(err, fleet.ErrNoPlan):
		v.code = http.StatusNotFound
		v.Trouble = "Nothing was published under this name yet."
	default:
		v.code = http.StatusServiceUnavailable
		v.Trouble = "The server of the fleet does not answer: " + plainError(v.Name, err)
	}
}

// viewOf reads what the page of a name shows.
func (p *Page) viewOf(ctx context.Context, s *session, name string) (*fleetView, error) {
	v := &fleetView{Name: name, By: s.by, Now: time.Now()}
	c, err := fleet.NewController(p.options.Conn, name, s.by)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, streamRead)
	defer cancel()
	status, err := c.Status(ctx)
	if err == nil {
		v.Status = status
		v.record, err = readRecord(ctx, c, status.Plan)
	}
	v.fail(err)
	return v, nil
}

func (p *Page) showFleet(w http.ResponseWriter, r *http.Request, s *session) {
	v, err := p.viewOf(r.Context(), s, r.URL.Query().Get("name"))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	render(w, v.code, "fleet", v)
}

// namesView is what the first page shows.
type namesView struct {
	Name    string // none
	By      string
	Fleets  []*fleetView
	Others  []string // whose status was not asked for
	Trouble string
}

func (p *Page) showNames(w http.ResponseWriter, r *http.Request, s *session) {
	ctx, cancel := context.WithTimeout(r.Context(), streamRead)
	defer cancel()
	v := &namesView{By: s.by}
	names, err := fleet.Names(ctx, p.options.Conn)
	if err != nil {
		v.Trouble = "The server of the fleet does not answer: " + err.Error()
		render(w, http.StatusServiceUnavailable, "names", v)
		return
	}
	for i, name := range names {
		if i == maxNames {
			v.Others = names[i:]
			break
		}
		one := &fleetView{Name: name, Now: time.Now()}
		c, err := fleet.NewController(p.options.Conn, name, s.by)
		if err == nil {
			one.Status, err = c.Status(ctx)
		}
		one.fail(err)
		v.Fleets = append(v.Fleets, one)
	}
	render(w, http.StatusOK, "names", v)
}

// Known reports whether there is a status with its record.
func (v *fleetView) Known() bool { return v.Status != nil && v.record != nil }

// Query returns the name as it stands in the address of the events.
func (v *fleetView) Query() string { return url.QueryEscape(v.Name) }

// Plan returns the plan of the status.
func (v *fleetView) Plan() *fleet.Plan { return v.Status.Plan }

// row is a replica.
type row struct {
	fleet.Report
	State string
	Wants string   // the revision, if it runs another
	Tags  []string // why it wants another one than others
}

// Rows returns the replicas to show.
func (v *fleetView) Rows() []row {
	var all []row
	for _, r := range v.Status.Replicas {
		one := row{Report: r, State: r.State(v.Plan())}
		if want := v.Plan().Wanted(r.ID).ID; want != r.Revision {
			one.Wants = want
		}
		if slices.Contains(v.Plan().CanaryIDs, r.ID) && v.Plan().Canary != "" {
			one.Tags = append(one.Tags, "canary")
		}
		if _, ok := v.Plan().Pins[r.ID]; ok {
			one.Tags = append(one.Tags, "pinned")
		}
		all = append(all, one)
	}
	if len(all) > maxReplicas {
		trouble := func(r row) int {
			return slices.Index([]string{"failing", "empty", "waiting", "running"}, r.State)
		}
		slices.SortStableFunc(all, func(a, b row) int { return cmp.Compare(trouble(a), trouble(b)) })
		all = all[:maxReplicas]
	}
	return all
}

// More returns how many replicas Rows leaves out.
func (v *fleetView) More() int { return max(len(v.Status.Replicas)-maxReplicas, 0) }

// group is a revision that replicas want.
type group struct {
	Revision fleet.Revision
	As       []string // stable, canary, pinned
	Total    int      // replicas that want it
	Running  int      // of them, that run it
}

// Groups returns the revisions that replicas want, stable first.
func (v *fleetView) Groups() []group {
	all := map[string]*group{}
	for _, r := range v.Status.Replicas {
		want := v.Plan().Wanted(r.ID)
		if all[want.ID] == nil {
			all[want.ID] = &group{Revision: want, As: v.roles(want.ID)}
		}
		all[want.ID].Total++
		if r.Revision == want.ID {
			all[want.ID].Running++
		}
	}
	var groups []group
	for _, id := range slices.Sorted(maps.Keys(all)) {
		groups = append(groups, *all[id])
	}
	slices.SortStableFunc(groups, func(a, b group) int { return cmp.Compare(v.rank(a), v.rank(b)) })
	return groups
}

// rank puts stable before the canary, and that before pins.
func (v *fleetView) rank(g group) int {
	switch g.Revision.ID {
	case v.Plan().Stable:
		return 0
	case v.Plan().Canary:
		return 1
	}
	return 2
}

// roles returns what a revision is in the plan.
func (v *fleetView) roles(id string) (all []string) {
	plan := v.Plan()
	for _, role := range []struct{ revision, name string }{{plan.Stable, "stable"}, {plan.Canary, "canary"}, {plan.Previous, "stable before"}} {
		if role.revision == id && id != "" {
			all = append(all, role.name)
		}
	}
	if slices.Contains(slices.Collect(maps.Values(plan.Pins)), id) {
		all = append(all, "pinned")
	}
	return all
}

// Pins returns the ids of pinned replicas, in order.
func (v *fleetView) Pins() []string { return slices.Sorted(maps.Keys(v.Plan().Pins)) }

// storedRow is a revision that is stored.
type storedRow struct {
	fleet.Stored
	As   []string
	Runs int // replicas that run it
}

// Stored returns the revisions to show.
func (v *fleetView) Stored() []storedRow {
	var all []storedRow
	for _, one := range v.stored[:min(len(v.stored), maxRecord)] {
		r := storedRow{Stored: one, As: v.roles(one.ID)}
		for _, replica := range v.Status.Replicas {
			if one.ID != "" && replica.Revision == one.ID {
				r.Runs++
			}
		}
		all = append(all, r)
	}
	return all
}

// Choices returns the stored revisions that can be chosen, but the one that is
// left out.
func (v *fleetView) Choices(but string) []fleet.Revision {
	var all []fleet.Revision
	for _, one := range v.stored {
		if one.ID != "" && one.ID != but {
			all = append(all, one.Revision)
		}
	}
	return all
}

// History returns the changes to show, the newest first.
func (v *fleetView) History() []fleet.Change {
	all := slices.Clone(v.history[max(len(v.history)-maxRecord, 0):])
	slices.Reverse(all)
	return all
}

// Older returns how many changes History leaves out.
func (v *fleetView) Older() int { return max(len(v.history)-maxRecord, 0) }
