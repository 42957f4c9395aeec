package page

import (
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/poolswap/poolswap/fleet"
)

// top is the head of each page.
type top struct {
	Name  string // of the fleet; none on the first page
	Token fleet.Token
	Now   time.Time
	Tab   string
}

// filter chooses the replicas of a page.
type filter struct {
	Find  string // labels and parts of ids, separated by commas
	State fleet.State
	Page  int // from 1
}

func filterOf(query url.Values) filter {
	f := filter{Find: strings.TrimSpace(query.Get("find")), State: fleet.State(query.Get("state")), Page: pageOf(query)}
	if !slices.Contains(states, f.State) {
		f.State = ""
	}
	return f
}

func pageOf(query url.Values) int {
	page, err := strconv.Atoi(query.Get("page"))
	if err != nil || page < 1 {
		return 1
	}
	return min(page, 1_000_000)
}

// query returns the filter as it stands in the address of the page of a name.
func (f filter) query(name string) string {
	values := url.Values{"name": {name}}
	for key, value := range map[string]string{"find": f.Find, "state": string(f.State)} {
		if value != "" {
			values.Set(key, value)
		}
	}
	if f.Page > 1 {
		values.Set("page", strconv.Itoa(f.Page))
	}
	return values.Encode()
}

// finds returns a function that reports whether a replica is looked for.
func (f filter) finds() func(r *row) bool {
	terms := fields(f.Find)
	terms = terms[:min(len(terms), maxTerms)]
	return func(r *row) bool {
		for _, term := range terms {
			key, value, _ := strings.Cut(term, "=")
			if got, ok := r.Labels[key]; (!ok || got != value) && !strings.Contains(r.ID, term) {
				return false
			}
		}
		return true
	}
}

// link leads to a page of replicas.
type link struct {
	Text, At string
	Current  bool
}

// replicas are the replicas of a page.
type replicas struct {
	Rows       []*row
	First      int    // number of the first row, from 1
	Last       int    // of the last row
	Found      int    // in the state of the filter
	States     []link // filters by state, with their counts
	Prev, Next string // addresses
}

// Replicas returns the replicas to show.
func (v *fleetView) Replicas() *replicas {
	finds, counts, all := v.Filter.finds(), map[fleet.State]int{}, 0
	page := &replicas{}
	last := v.Filter.Page * pageSize
	for i := range v.rows {
		r := &v.rows[i]
		if !finds(r) {
			continue
		}
		all++
		counts[r.State]++
		if v.Filter.State != "" && r.State != v.Filter.State {
			continue
		}
		if page.Found++; page.Found > last-pageSize && page.Found <= last {
			page.Rows = append(page.Rows, r)
		}
	}
	page.First, page.Last = last-pageSize+1, min(last, page.Found)
	at := func(f filter) string { return "/fleet?" + f.query(v.Name) + "#replicas" }
	page.States = append(page.States, link{"all " + countInWords(all), at(filter{Find: v.Filter.Find}), v.Filter.State == ""})
	for _, state := range slices.Backward(states) {
		if current := v.Filter.State == state; counts[state] > 0 || current {
			text := string(state) + " " + countInWords(counts[state])
			page.States = append(page.States, link{text, at(filter{Find: v.Filter.Find, State: state}), current})
		}
	}
	if v.Filter.Page > 1 {
		before := v.Filter
		before.Page = min(before.Page-1, (page.Found+pageSize-1)/pageSize)
		page.Prev = at(before)
	}
	if page.Found > last {
		after := v.Filter
		after.Page++
		page.Next = at(after)
	}
	return page
}

// fleetView is the content of the page of a name.
type fleetView struct {
	top
	*snapshot
	Filter filter
	May    bool // the user may steer

	Error string // why an operation was refused
	Why   string // the reason that was typed then
}

// viewOf returns the content of the page of a name.
func (p *Page) viewOf(u *user, name string, f filter) *fleetView {
	v := &fleetView{snapshot: p.look(name, snapshotAge), Filter: f, May: u.may(fleet.OperatorRole, name)}
	v.top = top{Name: name, Token: u.Token, Now: v.snapshot.Taken, Tab: "fleet"}
	return v
}

func (p *Page) showFleet(w http.ResponseWriter, r *http.Request, u *user) {
	query := r.URL.Query()
	v := p.viewOf(u, query.Get("name"), filterOf(query))
	render(w, statusOf(v.Err), "fleet", v)
}

// Events returns the address of the stream of this view.
func (v *fleetView) Events() string { return "/events?" + v.Filter.query(v.Name) }

// form is the head of a form.
type form struct {
	Name, Do string
	Kind     fleet.Kind
	Plan     *fleet.Plan
	For      string // the plans that it is for
}

// Form returns the head of a form.
func (v *fleetView) Form(do string) form {
	f := form{v.Name, do, fleet.Kind(do), v.Plan, v.Plan.Version()}
	switch do {
	case "end":
		f.Kind, f.For = fleet.KindRollback, v.Ends()
	case "back":
		f.Kind = fleet.KindRollback
	}
	return f
}

// Pins returns the ids of pinned replicas, in order.
func (v *fleetView) Pins() []string { return slices.Sorted(maps.Keys(v.Plan.Pins)) }

// Ends names the canary that the form of the rollback ends: that holds for each plan
// that still tries this revision.
func (v *fleetView) Ends() string {
	if v.Plan.Canary == nil {
		return ""
	}
	return v.Plan.Canary.Revision
}

// Choices returns the stored revisions that can be chosen, without the one that is
// left out.
func (v *fleetView) Choices(but string) (all []fleet.Revision) {
	for _, one := range v.Stored[:min(len(v.Stored), choices)] {
		if one.ID != but {
			all = append(all, one.Revision)
		}
	}
	return all
}
