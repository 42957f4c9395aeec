package verify

import (
	"crypto/ed25519"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/poolswap/poolswap/fleet"
)

// history is a name, its replicas and what happens to them.
type history struct {
	t testing.TB
	*rand.Rand
	*stage
	all   *counts
	name  string
	kills int // the weight of each step that kills the server

	digest    bool // the replicas compare digests of rows
	keys      []ed25519.PublicKey
	publisher *fleet.Publisher  // through the network
	steering  *fleet.Controller // the same
	honest    *fleet.Controller // past the network
	clients   []*fleet.Client   // of people, of replicas, and past the network

	published map[content]rows // whatever was sent, also without an answer
	known     map[string]rows  // by revision; "" is the empty table
	replicas  []*follower
	steps     []string
	wrong     error
}

// content identifies content that the publisher made.
type content struct{ base, sha256, state string }

// rows are those that a revision leads to.
type rows struct {
	meant map[string]string // by the publisher, who gave their digest
	made  map[string]string // by the content; nil if replicas refuse it

	number int // of the content
}

func newHistory(t testing.TB, s *stage, seed uint64, all *counts) *history {
	t.Helper()
	h := &history{t: t, Rand: rand.New(rand.NewPCG(seed, 0)), stage: s, all: all, name: fmt.Sprintf("h%d", seed)}
	h.published, h.known = map[content]rows{}, map[string]rows{"": {meant: map[string]string{}, made: map[string]string{}}}
	s.people.reset(all.add)
	s.replicas.reset(all.add)
	for _, url := range []string{s.people.url, s.replicas.url, s.node.url()} {
		h.clients = append(h.clients, must(fleet.NewClient(url, fleet.ClientOptions{TokenFile: s.node.token()}))(t))
	}
	if h.digest = h.IntN(2) == 0; h.digest {
		h.say("with digests")
	}
	if h.IntN(8) == 0 {
		h.kills = 2
	}
	options := fleet.PublisherOptions{New: true}
	if h.IntN(2) == 0 {
		var seed [ed25519.SeedSize]byte
		options.Key = ed25519.NewKeyFromSeed(seed[:])
		h.keys = []ed25519.PublicKey{options.Key.Public().(ed25519.PublicKey)}
	}
	h.publisher = must(fleet.NewPublisher(h.clients[0], h.name, options))(t)
	h.steering = must(fleet.NewController(h.clients[0], h.name))(t)
	h.honest = must(fleet.NewController(h.clients[2], h.name))(t)
	return h
}

func (h *history) say(format string, values ...any) {
	h.steps = append(h.steps, fmt.Sprintf(format, values...))
}

func (h *history) failed() bool { return h.wrong != nil }

// note takes an error that must not be.
func (h *history) note(err error) {
	if h.wrong == nil {
		h.wrong = err
	}
}

// claimed returns the rows that a replica has to have that says it runs a revision, nil
// if none may.
func (h *history) claimed(revision string) map[string]string {
	r := h.known[revision]
	if h.digest && r.made != nil {
		return r.meant
	}
	return r.made
}

// sound reports whether replicas can load a revision.
func (h *history) sound(revision string) bool {
	r := h.known[revision]
	return r.made != nil && (!h.digest || maps.Equal(r.made, r.meant))
}

// begin publishes a table and starts the replicas.
func (h *history) begin() {
	all := map[string]string{}
	for i := range 150 + h.IntN(200) {
		all[fmt.Sprintf("row%d", i)] = fmt.Sprint(h.IntN(1e6))
	}
	h.whole(all, true)
	h.learn()
	if _, err := h.honest.Plan(h.t.Context()); err != nil {
		h.note(err)
	}
	for i := range 3 {
		dir := ""
		if i < 2 {
			dir = must(os.MkdirTemp("", "follower"))(h.t)
		}
		h.replicas = append(h.replicas, h.follower(fmt.Sprintf("r%d", i), dir))
	}
}

func (h *history) follower(id, dir string) *follower {
	return newFollower(h.t, h.clients[1], h.name, id, dir, h.digest, h.keys, h.all.add)
}

// whole is send of whole content.
func (h *history) whole(all map[string]string, publish bool) string {
	return h.send("", rows{meant: all, made: all}, textOf(all), publish)
}

// send stores content, and publishes it or not. It returns "" if that failed, although it
// may have been done.
func (h *history) send(base string, r rows, text string, publish bool) string {
	p, c := h.publisher, content{base: base, sha256: fmt.Sprintf("%x", sha256.Sum256([]byte(text)))}
	if h.digest {
		state := stateOf(r.meant)
		p, c.state = p.WithState(state), fmt.Sprintf("%x", state)
	}
	if _, again := h.published[c]; !again {
		r.number = len(h.published)
		h.published[c] = r
	}
	var revision fleet.Revision
	var err error
	switch body := strings.NewReader(text); {
	case publish && base == "":
		revision, _, err = p.Publish(h.t.Context(), body, "")
	case publish:
		revision, _, err = p.PublishDelta(h.t.Context(), base, body, "")
	case base == "":
		revision, err = p.Store(h.t.Context(), body)
	default:
		revision, err = p.StoreDelta(h.t.Context(), base, body)
	}
	if errors.Is(err, fleet.ErrSnapshot) {
		h.say("a snapshot is due")
		return h.whole(r.meant, publish)
	}
	h.say("send on %q, publish %v, digest %v: %q, %v", base, publish, h.digest, revision.ID, err)
	if err != nil {
		h.all.add("unsure")
	}
	return revision.ID
}

// learn finds out what is stored.
func (h *history) learn() {
	stored, err := h.honest.Revisions(h.t.Context())
	if err != nil {
		h.note(err)
	}
	for _, one := range stored {
		r, ok := h.published[content{one.Base, one.SHA256, one.State}]
		if !ok {
			h.note(fmt.Errorf("revision %+v is stored, and was not published", one.Revision))
		}
		if h.keys != nil && one.Signature == nil { // the publisher did not come to that
			r.made = nil
		}
		h.known[one.ID] = r
	}
}

// check notes what is wrong with a replica.
func (h *history) check() {
	for _, f := range h.replicas {
		if err := f.check(h.claimed); err != nil {
			h.note(err)
		}
	}
}

// end lets the network be honest: each replica, and a new one, gets to the newest rows.
func (h *history) end() {
	h.people.arm(nil)
	h.stage.replicas.arm(nil)
	h.learn()
	h.say("the end")
	plan := h.settle()
	if h.failed() {
		return
	}
	h.replicas = append(h.replicas, h.follower("new", ""))
	for _, f := range h.replicas {
		err := f.reloader.Reload(h.t.Context())
		if err == nil && f.reloader.Status().Stale != nil { // what its Cache had comes first
			err = f.reloader.Reload(h.t.Context())
		}
		if s := f.reloader.Status(); err != nil || s.Revision != plan.Stable {
			h.note(fmt.Errorf("%s has revision %q in the end, want %q: %w", f.id, s.Revision, plan.Stable, err))
		}
	}
	h.check()
}

// settle returns a plan without a canary, whose stable revision can be loaded. The server,
// too, changes plans: it holds a canary that a replica refuses.
func (h *history) settle() *fleet.Plan {
	for try := 0; ; try++ {
		plan, err := h.honest.Plan(h.t.Context())
		switch {
		case err != nil:
		case !h.sound(plan.Stable), try == 0 && h.IntN(2) == 0:
			last := map[string]string{"last": "snapshot"}
			maps.Copy(last, h.known[plan.Stable].meant)
			h.whole(last, true)
			h.learn()
		case plan.Canary != nil:
			_, err = h.steering.Rollback(h.t.Context(), "", "")
		default:
			return plan
		}
		if err != nil && !errors.Is(err, fleet.ErrConflict) || try == 10 {
			h.note(fmt.Errorf("the plan %v does not settle: %w", plan, err))
			return nil
		}
	}
}

// close ends the history.
func (h *history) close() {
	for _, f := range h.replicas {
		f.stop()
		f.source.Leave()
		if f.dir != "" {
			os.RemoveAll(f.dir)
		}
	}
	if !h.failed() {
		h.note(h.clients[2].RemoveName(h.t.Context(), h.name, ""))
	}
	for _, c := range h.clients {
		c.CloseIdleConnections()
	}
}
