package verify

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/poolswap/poolswap/fleet"
)

// arm lets the networks meddle with some of the next requests.
func (h *history) arm() {
	for _, m := range []*meddler{h.people, h.stage.replicas} {
		faults := map[string][]fault{}
		for _, kind := range kindNames {
			what := kinds[kind]
			for range max(0, h.IntN(8)-5) {
				faults[kind] = append(faults[kind], fault{what[h.IntN(len(what))], h.Uint64()})
			}
		}
		m.arm(faults)
	}
}

// base returns the revision that a delta is made on: the stable one, or now and then
// another.
func (h *history) base() string {
	plan, err := h.honest.Plan(h.t.Context())
	if err != nil {
		h.note(err)
		return ""
	}
	if h.IntN(6) > 0 {
		return plan.Stable
	}
	h.all.add("stale base")
	return h.any()
}

// any returns some revision, in an order that the seed alone decides.
func (h *history) any() string {
	stored, err := h.honest.Revisions(h.t.Context())
	if err != nil || len(stored) == 0 {
		h.note(fmt.Errorf("%d revisions are stored: %w", len(stored), err))
		return ""
	}
	slices.SortStableFunc(stored, func(a, b fleet.Stored) int { return h.known[a.ID].number - h.known[b.ID].number })
	return stored[h.IntN(len(stored))].ID
}

// changes returns the lines of a delta on a revision, and the rows that it leads to.
func (h *history) changes(base string) (lines []string, after rows) {
	before := h.known[base]
	after.meant = maps.Clone(before.meant)
	for range 1 + h.IntN(6) {
		r := row{fmt.Sprintf("row%d", h.IntN(400)), fmt.Sprint(h.IntN(1e6))}
		if _, ok := after.meant[r.key]; ok && h.IntN(3) == 0 {
			r.value = ""
		}
		set(after.meant, r)
		lines = append(lines, strings.TrimSuffix(r.key+" "+r.value, " "))
	}
	switch h.IntN(8) {
	case 0: // a change that is missing, or that the publisher did not mean
		h.all.add("wrong delta")
		if lines = lines[1:]; len(lines) == 0 {
			lines = []string{"row1 wrong"}
		}
	case 1:
		if h.IntN(2) == 0 {
			h.all.add("refused delta")
			lines = append(lines, badKey+" 1")
		}
	}
	if before.made != nil && !strings.HasPrefix(lines[len(lines)-1], badKey) {
		after.made = maps.Clone(before.made)
		for _, line := range lines {
			key, value, _ := strings.Cut(line, " ")
			set(after.made, row{key, value})
		}
	}
	return lines, after
}

func linesOf(lines []string) string { return strings.Join(lines, "\n") + "\n" }

func (h *history) delta() {
	h.all.add("delta")
	base := h.base()
	lines, r := h.changes(base)
	h.send(base, r, linesOf(lines), true)
}

func (h *history) snapshot() {
	h.all.add("snapshot")
	_, r := h.changes(h.base())
	h.whole(r.meant, true)
}

// canary lets some replicas try a delta or a snapshot.
func (h *history) canary() {
	base := h.base()
	lines, r := h.changes(base)
	var id string
	if h.IntN(4) == 0 {
		id = h.whole(r.meant, false)
	} else {
		id = h.send(base, r, linesOf(lines), false)
	}
	if id == "" {
		return
	}
	selection := fleet.Selection{Share: 0.5}
	if h.IntN(2) == 0 {
		selection = fleet.Selection{IDs: []string{fmt.Sprintf("r%d", h.IntN(3))}}
	}
	_, err := h.steering.Canary(h.t.Context(), id, selection, "")
	h.say("canary %s: %v", &selection, err)
	if err == nil {
		h.all.add("canary")
	}
}

// promote begins a canary, lets all replicas load what they want, and promotes it.
func (h *history) promote() {
	h.canary()
	h.learn()
	for i := range h.replicas {
		h.load(i)
	}
	_, err := h.steering.Promote(h.t.Context(), "")
	for deadline := time.Now().Add(50 * time.Millisecond); err != nil && time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) { // reports come later
		_, err = h.steering.Promote(h.t.Context(), "")
	}
	h.say("promote: %v", err)
	if err == nil {
		h.all.add("promoted")
	}
}

func (h *history) rollback() {
	to := ""
	if h.IntN(3) == 0 {
		to = h.any()
	}
	_, err := h.steering.Rollback(h.t.Context(), to, "")
	h.say("rollback to %q: %v", to, err)
	if err == nil {
		h.all.add("rolled back")
	}
}

func (h *history) attempt() { h.load(h.IntN(len(h.replicas))) }

// load lets a replica make an attempt, which now and then is given up.
func (h *history) load(i int) {
	ctx, cancel := context.WithTimeout(h.t.Context(), 10*time.Second)
	if h.IntN(8) == 0 {
		ctx, cancel = context.WithTimeout(h.t.Context(), time.Duration(h.IntN(5000))*time.Microsecond)
	}
	defer cancel()
	f := h.replicas[i]
	err := f.reloader.Reload(ctx)
	h.say("%s loads: %q, %v", f.id, f.reloader.Status().Revision, err)
}

// restart ends a replica and begins it anew, with its cache or without.
func (h *history) restart() {
	h.all.add("restart")
	i := h.IntN(len(h.replicas))
	f := h.replicas[i]
	if f.stop(); h.IntN(2) == 0 {
		f.source.Leave()
	}
	if f.dir != "" && h.IntN(3) == 0 {
		h.all.add("restart without cache")
		os.RemoveAll(f.dir)
	}
	h.say("restart %s", f.id)
	h.replicas[i] = h.follower(f.id, f.dir)
	h.load(i)
}

// kill kills the server, and lets replicas go on without it.
func (h *history) kill() {
	h.all.add("server killed")
	h.say("kill the server")
	h.node.kill()
	h.arm()
	for range h.IntN(3) {
		h.attempt()
		h.check()
	}
	h.revive()
}

// killWhilePublishing kills the server at some time while a delta is published and a
// replica loads.
func (h *history) killWhilePublishing() {
	h.all.add("killed while publishing")
	h.say("kill the server meanwhile:")
	base, i := h.base(), h.IntN(len(h.replicas))
	lines, r := h.changes(base)
	after := time.Duration(h.IntN(15_000)) * time.Microsecond
	var both sync.WaitGroup
	both.Go(func() {
		time.Sleep(after)
		h.node.kill()
	})
	h.send(base, r, linesOf(lines), true)
	h.load(i)
	both.Wait()
	h.revive()
}

func (h *history) revive() {
	for _, c := range h.clients {
		c.CloseIdleConnections()
	}
	h.node.start()
	h.node.awaitReady()
}
