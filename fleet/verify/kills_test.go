package verify

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/poolswap/poolswap/fleet"
)

// acknowledged is a publication that the servers have acknowledged.
type acknowledged struct {
	fleet.Revision
	plan *fleet.Plan
	text string
}

// TestKilledNodes publishes while nodes of a cluster are killed at random, one at a time,
// one for 20 publications at least: nothing that was acknowledged is lost.
// FLEET_PUBLICATIONS=500 makes it 500.
func TestKilledNodes(t *testing.T) {
	long(t)
	noLeak(t)
	publications := 60
	if text := os.Getenv("FLEET_PUBLICATIONS"); text != "" {
		publications = must(strconv.Atoi(text))(t)
	}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	nodes := newCluster(t)
	servers, token := startAll(t, nodes)
	c := newClient(t, servers, token)
	m := newTeam(t, c, fleet.PublisherOptions{})
	first, plan := m.publish(t, "first")
	all := []acknowledged{{first, plan, "first"}}
	r := start(t, c, fleet.SourceOptions{ID: "r"})
	r.awaitText(t, "first")

	ended := make(chan struct{})
	var killing sync.WaitGroup
	var kills atomic.Int64
	killing.Go(func() {
		for {
			select {
			case <-ended:
				return
			case <-time.After(time.Duration(random.IntN(3000)) * time.Millisecond):
			}
			n := nodes[random.IntN(len(nodes))]
			n.kill()
			kills.Add(1)
			time.Sleep(time.Duration(random.IntN(2000)) * time.Millisecond)
			n.start()
			n.awaitReady()
		}
	})
	failed, conflicts := 0, 0
	i := 0
	for ; i < publications || kills.Load() < int64(publications/20); i++ {
		text := fmt.Sprintf("text %d of seed %d", i, seed)
		revision, plan, err := m.Publish(t.Context(), strings.NewReader(text), strconv.Itoa(i))
		switch {
		case err == nil:
			all = append(all, acknowledged{revision, plan, text})
		case errors.Is(err, fleet.ErrConflict):
			conflicts++ // an attempt before was made, though it was said to have failed
		default:
			failed++
		}
	}
	close(ended)
	killing.Wait()
	t.Logf("%d acknowledged, %d failed, %d conflicts, %d kills", len(all), failed, conflicts, kills.Load())
	if len(all) < i/4 {
		t.Errorf("%d of %d publications were acknowledged", len(all), i)
	}
	for _, n := range nodes {
		n.awaitReady()
	}
	made := map[string]fleet.Change{}
	for before := ""; ; {
		page := must(m.History(t.Context(), before, 100))(t)
		for _, change := range page {
			version := fmt.Sprintf("%d.%d", change.Epoch, change.Seq)
			if _, twice := made[version]; twice {
				t.Errorf("the history has plan %s twice", version)
			}
			made[version], before = change, version
		}
		if len(page) < 100 {
			break
		}
	}
	for _, one := range all {
		if change, ok := made[one.plan.Version()]; !ok || change.To != one.ID {
			t.Errorf("plan %s was acknowledged with revision %s, and the history has %+v", one.plan.Version(), one.ID, change)
		}
		body := must(c.Content(t.Context(), "table", one.Revision))(t)
		if got := string(must(io.ReadAll(body))(t)); got != one.text {
			t.Errorf("revision %s was acknowledged with %q, and is %q", one.ID, one.text, got)
		}
		body.Close()
	}
	last, plan := m.publish(t, "last")
	if newest := all[len(all)-1].plan; !plan.After(newest.Epoch, newest.Seq) || plan.Stable != last.ID {
		t.Errorf("plan %s with %s follows %s", plan.Version(), plan.Stable, newest.Version())
	}
	r.awaitText(t, "last")
	for _, n := range nodes { // each node has it
		if got := must(must(fleet.NewController(newClient(t, n.url(), token), "table"))(t).Plan(t.Context()))(t); got.Stable != last.ID {
			t.Errorf("node %s has the plan %s with %s", n.address, got.Version(), got.Stable)
		}
	}
}
