package page

import (
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/poolswap/poolswap/fleet"
)

// historyRow is a change of the history, or some alike that follow each other.
type historyRow struct {
	fleet.Change           // the newest
	Times        int       // how many
	First        time.Time // the oldest
}

// collapse makes one entry of changes alike that follow each other.
func collapse(changes []fleet.Change) (all []historyRow) {
	for _, c := range changes {
		if n := len(all); n > 0 {
			last := &all[n-1]
			if last.Kind == c.Kind && last.By == c.By && last.From == c.From && last.To == c.To && last.Why == c.Why && fmt.Sprint(last.Selected) == fmt.Sprint(c.Selected) {
				last.Times++
				last.First = c.At
				continue
			}
		}
		all = append(all, historyRow{c, 1, c.At})
	}
	return all
}

// historyView is the content of the page of the history.
type historyView struct {
	top
	Err          error
	Changes      []historyRow
	Newer, Older string // addresses
}

func (p *Page) showHistory(w http.ResponseWriter, r *http.Request, u *user) {
	name, before := r.URL.Query().Get("name"), r.URL.Query().Get("before")
	v := &historyView{top: top{Name: name, Token: u.Token, Now: time.Now(), Tab: "history"}}
	changes, err := p.store.History(r.Context(), name, before, listSize+1)
	if v.Err = err; err != nil {
		render(w, statusOf(err), "history", v)
		return
	}
	at := func(epoch, seq uint64) string {
		return fmt.Sprintf("/history?name=%s&before=%d.%d", url.QueryEscape(name), epoch, seq)
	}
	if before != "" {
		v.Newer = "/history?name=" + url.QueryEscape(name)
		// The numbers of an epoch have no gaps.
		if plan, err := p.store.Plan(name); err == nil && len(changes) > 0 && (changes[0].Epoch != plan.Epoch || changes[0].Seq+listSize < plan.Seq) {
			v.Newer = at(changes[0].Epoch, changes[0].Seq+listSize+1)
		}
	}
	if len(changes) > listSize {
		changes = changes[:listSize]
		last := changes[listSize-1]
		v.Older = at(last.Epoch, last.Seq)
	}
	v.Changes = collapse(changes)
	render(w, http.StatusOK, "history", v)
}
