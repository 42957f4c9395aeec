package rollout

import (
	"os"
	"time"

	"github.com/poolswap/poolswap/bench/internal/measure"
)

// usage is what a server and this process had used when watch was called.
type usage struct {
	server       *process
	wire         *wire
	bytes        float64
	serverTime   time.Duration
	replicasTime time.Duration
}

func watch(server *process, w *wire) usage {
	u := usage{server: server, wire: w, bytes: w.bytes()}
	u.serverTime, _ = processorTime(server.command.Process.Pid)
	u.replicasTime, _ = processorTime(os.Getpid())
	return u
}

// values returns what was used since.
func (u usage) values() map[string]float64 {
	values := map[string]float64{"wire-bytes": u.wire.bytes() - u.bytes}
	if now, ok := processorTime(u.server.command.Process.Pid); ok {
		values["server-cpu-ns"] = float64(now - u.serverTime)
	}
	if now, ok := processorTime(os.Getpid()); ok {
		values["replicas-cpu-ns"] = float64(now - u.replicasTime)
	}
	if peak, ok := peakMemory(u.server.command.Process.Pid); ok {
		values["server-rss-bytes"] = peak
	}
	return values
}

// sample returns the sample of a publication.
func (u usage) sample(published time.Duration, swapped []time.Duration) measure.Sample {
	values := u.values()
	values["publish-ns"] = float64(published)
	values["first-ns"] = float64(swapped[0])
	values["median-ns"] = float64(swapped[(len(swapped)-1)/2])
	values["last-ns"] = float64(swapped[len(swapped)-1])
	return measure.Sample{Iterations: len(swapped), Values: values}
}
