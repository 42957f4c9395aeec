package verify

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/poolswap/poolswap/fleet"
)

// TestKilledDrivers kills the node that drives a rollout, in each of its steps. The next
// driver bakes the step anew, and the rollout ends well.
func TestKilledDrivers(t *testing.T) {
	long(t)
	noLeak(t)
	nodes := newCluster(t)
	servers, token := startAll(t, nodes)
	c := newClient(t, servers, token)
	m := newTeam(t, c, fleet.PublisherOptions{})
	_, plan := m.publish(t, "old")
	for i := range 8 {
		start(t, newClient(t, servers, token), fleet.SourceOptions{ID: fmt.Sprint("r", i), Health: func() fleet.Health { return fleet.Health{Requests: 1000} }})
	}
	m.await(t, plan)
	next := must(m.Store(t.Context(), strings.NewReader("new")))(t)
	const bake = 5 * time.Second
	var killed []time.Time // in a step
	must(m.Rollout(t.Context(), next.ID, []float64{0.4, 0.7}, bake, ""))(t)
	for step := range 3 {
		eventually(t, fmt.Sprint("it is in step ", step), func() bool {
			plan, err := m.Plan(t.Context())
			return err == nil && plan.Rollout != nil && plan.Rollout.Step == step
		})
		time.Sleep(bake / 2)
		var driver *node
		eventually(t, "a node drives", func() bool {
			driver = driverOf(t, nodes, token)
			return driver != nil
		})
		driver.kill()
		killed = append(killed, time.Now())
		driver.start()
		driver.awaitReady()
	}
	eventually(t, "the rollout ends", func() bool {
		plan, err := m.Plan(t.Context())
		return err == nil && plan.Rollout == nil
	})
	history := must(m.History(t.Context(), "", 100))(t)
	var kinds []string
	for i, change := range history {
		kinds = append(kinds, string(change.Kind))
		if step := 2 - i; step >= 0 && change.At.After(killed[step]) && change.At.Sub(killed[step]) < bake {
			t.Errorf("step %d passed %v after its driver was killed, and its bake takes %v", step, change.At.Sub(killed[step]), bake)
		}
	}
	if got := strings.Join(kinds, " "); got != "promote widen widen rollout publish" || history[0].To != next.ID {
		t.Errorf("the history is %s: %+v", got, history)
	}
}

// driverOf returns the node that says that it drives rollouts, or nil.
func driverOf(t *testing.T, nodes []*node, token string) *node {
	t.Helper()
	text := must(os.ReadFile(token))(t)
	for _, n := range nodes {
		request := must(http.NewRequestWithContext(t.Context(), http.MethodGet, n.url()+"/metrics", nil))(t)
		request.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(text)))
		request.Close = true
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			continue
		}
		metrics, _ := io.ReadAll(response.Body)
		response.Body.Close()
		if strings.Contains(string(metrics), "\nfleetd_leader 1\n") {
			return n
		}
	}
	return nil
}
