package rollout

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/poolswap/poolswap/bench/internal/measure"
	"github.com/poolswap/poolswap/fleet"
)

// Idle measures what n replicas that have nothing to do cost, by replica and
// minute. They ask for the plan once in the window, which should be
// reload.DefaultEvery: it begins half of that after they all asked last.
func Idle(n int, window time.Duration) (measure.Sample, error) {
	t, err := newTeam(n, 0)
	if err != nil {
		return measure.Sample{}, err
	}
	defer t.close()
	time.Sleep(window / 2)
	messages, use := t.messages(), watch(t.process, &t.wire)
	begin := time.Now()
	time.Sleep(window)
	if err := t.flush(); err != nil {
		return measure.Sample{}, err
	}
	per := float64(n) * time.Since(begin).Minutes()
	used := use.values()
	values := map[string]float64{"msgs": (t.messages() - messages) / per, "wire-bytes": used["wire-bytes"] / per}
	if cpu, ok := used["server-cpu-ns"]; ok {
		values["server-cpu-ns"] = cpu / per
	}
	return measure.Sample{Iterations: n, Values: values}, nil
}

// Sizes measures the plan with a canary of that many ids, the entry of the history
// that a canary makes, and a report, as they are stored.
func Sizes(ids int) (measure.Sample, error) {
	t, err := newTeam(1, 0)
	if err != nil {
		return measure.Sample{}, err
	}
	defer t.close()
	ctx := context.Background()
	conn, err := t.connect("publisher")
	if err != nil {
		return measure.Sample{}, err
	}
	controller, err := fleet.NewController(conn, name, "bench")
	if err != nil {
		return measure.Sample{}, err
	}
	revision, err := t.publisher.Store(ctx, strings.NewReader("canary"))
	if err != nil {
		return measure.Sample{}, err
	}
	plan, err := controller.Canary(ctx, revision.ID, 0, "", canaryIDs(ids)...)
	if err != nil {
		return measure.Sample{}, err
	}
	status, err := controller.Status(ctx)
	if err != nil {
		return measure.Sample{}, err
	}
	if len(status.Plan.CanaryIDs) != ids || len(status.Replicas) != 1 {
		return measure.Sample{}, fmt.Errorf("the server has %d ids and %d reports, not %d and 1", len(status.Plan.CanaryIDs), len(status.Replicas), ids)
	}
	sample := measure.Sample{Iterations: 1, Values: map[string]float64{}}
	for unit, value := range map[string]any{"plan-bytes": plan, "history-bytes": plan.Change, "report-bytes": status.Replicas[0]} {
		text, err := json.Marshal(value)
		if err != nil {
			return sample, err
		}
		sample.Values[unit] = float64(len(text))
	}
	return sample, nil
}

// canaryIDs returns ids of 24 bytes, as those of pods are.
func canaryIDs(n int) []string {
	ids := make([]string, n)
	for i := range ids {
		ids[i] = fmt.Sprintf("lookup-7d9f8c6b5d-%06d", i)
	}
	return ids
}
