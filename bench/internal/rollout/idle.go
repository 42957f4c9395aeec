package rollout

import (
	"time"

	"github.com/poolswap/poolswap/bench/internal/measure"
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
