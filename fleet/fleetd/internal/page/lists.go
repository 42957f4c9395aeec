package page

import (
	"cmp"
	"net/http"
	"slices"
	"time"

	"github.com/poolswap/poolswap/fleet"
)

const listSize = 50 // names, changes or revisions of a page

// listView is the content of a page of names or of stored revisions.
type listView struct {
	top
	Fleets     []*fleetView
	Revisions  []revisionRow
	All        int
	Prev, Next int // pages; 0: none
}

// revisionRow is a stored revision.
type revisionRow struct {
	fleet.Stored
	As   []string
	Runs int // replicas that run it
}

// cut returns the part of a list that the page of a request shows.
func cut[T any](v *listView, r *http.Request, all []T) []T {
	page := pageOf(r.URL.Query())
	v.All, v.Prev = len(all), page-1
	begin, end := min((page-1)*listSize, len(all)), min(page*listSize, len(all))
	if end < len(all) {
		v.Next = page + 1
	}
	return all[begin:end]
}

func (p *Page) showNames(w http.ResponseWriter, r *http.Request, u *user) {
	names := slices.DeleteFunc(slices.Clone(p.store.Names()), func(name string) bool { return !u.may(fleet.ReaderRole, name) })
	slices.Sort(names)
	v := &listView{top: top{Token: u.Token, Now: time.Now()}}
	for _, name := range cut(v, r, names) {
		one := &fleetView{snapshot: p.look(name, namesAge)}
		one.top = top{Name: name, Now: one.snapshot.Taken}
		v.Fleets = append(v.Fleets, one)
	}
	render(w, http.StatusOK, "names", v)
}

func (p *Page) showRevisions(w http.ResponseWriter, r *http.Request, u *user) {
	name := r.URL.Query().Get("name")
	stored, err := p.store.Revisions(r.Context(), name) // there may be some without a plan
	if err != nil {
		http.Error(w, sentence(plain(name, err)), statusOf(err))
		return
	}
	s, runs := p.look(name, snapshotAge), map[string]int{}
	plan := cmp.Or(s.Plan, &fleet.Plan{})
	for i := range s.rows {
		runs[s.rows[i].Revision]++
	}
	v := &listView{top: top{Name: name, Token: u.Token, Now: s.Taken, Tab: "revisions"}}
	for _, one := range cut(v, r, stored) {
		v.Revisions = append(v.Revisions, revisionRow{one, rolesOf(plan, one.ID), runs[one.ID]})
	}
	render(w, http.StatusOK, "revisions", v)
}
