package verify

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"testing"
)

// TestSeededHistories lets replicas that follow deltas go through random histories:
// deltas and snapshots, right and wrong ones, canaries, promotions, rollbacks, restarts,
// kills of the server, and a network that loses, repeats, delays and damages answers.
// After each step, each replica has the rows of the revision that it says it runs, and
// none of its readers saw others. In the end, with an honest network, each has the newest.
//
// FLEET_HISTORIES=10000 makes it ten thousand. The seed of each is one more than that of
// the one before: FLEET_SEED=7 FLEET_HISTORIES=1 runs the history of seed 7 again, but for
// times, and for the ids of revisions, which choose the replicas of a share. -parallel 8
// makes use of the time that a history waits.
func TestSeededHistories(t *testing.T) {
	n, seed := 40, rand.Uint64N(1<<53)
	if testing.Short() {
		n = 10
	}
	if text := os.Getenv("FLEET_HISTORIES"); text != "" {
		n = must(strconv.Atoi(text))(t)
	}
	if text := os.Getenv("FLEET_SEED"); text != "" {
		seed = must(strconv.ParseUint(text, 10, 64))(t)
	}
	t.Logf("FLEET_SEED=%d FLEET_HISTORIES=%d", seed, n)
	noLeak(t)
	all := counts{of: map[string]int{}}
	workers := min(n, 8)
	t.Run("all", func(t *testing.T) {
		for w := range workers {
			t.Run(strconv.Itoa(w), func(t *testing.T) {
				t.Parallel()
				s := newStage(t)
				for i := w; i < n && !t.Failed(); i += workers {
					s.play(t, seed+uint64(i), &all)
				}
			})
		}
	})
	t.Log(all.of)
	if n < 100 || t.Failed() {
		return
	}
	for _, what := range []string{
		"delta", "snapshot", "wrong delta", "refused delta", "stale base", "canary", "promoted", "rolled back", "restart", "restart without cache", "server killed", "killed while publishing",
		"loaded", "loaded delta", "did not fit", "restored", "failed", "not modified", "other rows", "unsure",
		"lose request", "lose answer", "repeat", "delay", "cut", "flip", "earlier", "reorder",
	} {
		if all.of[what] == 0 {
			t.Errorf("%s: 0 times", what)
		}
	}
}

// counts says how often something happened.
type counts struct {
	mu sync.Mutex
	of map[string]int
}

func (c *counts) add(what string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.of[what]++
}

// stage is a server, and the networks to it, of one history after another.
type stage struct {
	node             *node
	replicas, people *meddler // networks
}

func newStage(t *testing.T) *stage {
	n := newNode(t)
	return &stage{n, newMeddler(t, n.address), newMeddler(t, n.address)}
}

// play plays the history of a seed.
func (s *stage) play(t *testing.T, seed uint64, all *counts) {
	h := newHistory(t, s, seed, all)
	steps := []struct {
		weight int
		do     func()
	}{
		{8, h.delta},
		{2, h.snapshot},
		{2, h.canary},
		{2, h.promote},
		{3, h.rollback},
		{12, h.attempt},
		{4, h.restart},
		{h.kills, h.kill},
		{h.kills, h.killWhilePublishing},
	}
	sum := 0
	for _, step := range steps {
		sum += step.weight
	}
	h.begin()
	for range 15 + h.IntN(15) {
		h.arm()
		at := h.IntN(sum)
		for _, step := range steps {
			if at -= step.weight; at < 0 {
				step.do()
				break
			}
		}
		h.learn()
		if h.check(); h.failed() {
			break
		}
	}
	if !h.failed() {
		h.end()
	}
	h.close()
	if h.failed() {
		text := fmt.Sprintf("FLEET_SEED=%d FLEET_HISTORIES=1 runs it again", seed)
		for _, step := range h.steps {
			text += "\n\t" + step
		}
		t.Errorf("%s\n%v", text, h.wrong)
	}
}
