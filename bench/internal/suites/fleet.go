package suites

import (
	"fmt"
	"time"

	"github.com/poolswap/poolswap/bench/internal/rollout"
	"github.com/poolswap/poolswap/bench/internal/runner"
	"github.com/poolswap/poolswap/reload"
)

// keepAtMost bounds the memory of all replicas of a case, each with two objects.
const keepAtMost = 8 << 30

// fleet is a publication to many replicas.
func fleet() runner.Suite {
	s := runner.Suite{
		Name:  "fleet",
		Title: "A publication to many replicas",
		About: "JetStream is a fleetd on this machine, with all replicas in another process: from the call of Publish until it has returned, and until the last " +
			"replica had swapped. Where object=kept, each replica reads the content into recycled memory; where object=hashed, it only hashes the content, because all " +
			"replicas together would need more than 8 GiB. HTTPHint is the same content from a file server " +
			"to replicas that are told to fetch it; HTTPPoll to replicas that ask every second. Publish is called again where the server refuses content that comes faster than its disk takes it.",
		Columns:   runner.Columns("last-ns", "last", "publish-ns", "Publish", "server-cpu-ns", "server CPU", "server-rss-bytes", "server memory"),
		OnRequest: true,
	}
	s.Cases = []runner.Case{publication(1, 10), publication(64, 10, "HTTPHint", "HTTPPoll"), publication(256, 10), publication(256, 200)}
	s.Charts = []runner.Chart{{Title: "Until the last replica has swapped", Axis: "replicas, 10 MiB", Log: true, Points: points(&s, "last-ns", "replicas", "size=10MiB")}}
	return s
}

func publication(n, size int, others ...string) runner.Case {
	keep, object := true, "kept"
	if 2*n*size*mib > keepAtMost {
		keep, object = false, "hashed"
	}
	c := runner.Case{
		Name: fmt.Sprintf("replicas=%d/size=%dMiB/object=%s", n, size, object), Ours: "JetStream",
		Setup: time.Second + time.Duration(n*size)*2500*time.Microsecond,
	}
	if size > 100 {
		c.MostRounds = 1 // it takes minutes
	}
	c.Rivals = each(append([]string{"JetStream"}, others...), func(config runner.Config, rival string) (runner.Sample, error) {
		replicas, bytes := fewer(n, config), config.Size(size*mib)
		switch rival {
		case "HTTPHint":
			return rollout.HTTP(replicas, bytes, 0)
		case "HTTPPoll":
			return rollout.HTTP(replicas, bytes, time.Second/time.Duration(config.Shrink))
		}
		return rollout.JetStream(replicas, bytes, keep)
	})
	return c
}

// fewer returns the number of replicas: in tests there are fewer, and still some.
func fewer(n int, config runner.Config) int {
	if config.Shrink > 1 {
		return min(n, 5)
	}
	return n
}

// fleetIdle is the cost of a fleet between publications.
func fleetIdle() runner.Suite {
	const replicas = 64
	return runner.Suite{
		Name:  "fleetidle",
		Title: "Idle replicas",
		About: "By replica and minute, what 64 replicas and their fleetd (JetStream) exchange that have nothing to do, with the default Options.Every: heartbeats of the watcher, " +
			"a question for the plan, and a report.",
		Columns:   runner.Columns("msgs", "messages", "wire-bytes", "wire", "server-cpu-ns", "server CPU"),
		OnRequest: true,
		Cases: []runner.Case{{
			Name: fmt.Sprintf("idle=%d", replicas), Ours: "JetStream", Setup: 92 * time.Second, MostRounds: 1,
			Rivals: each([]string{"JetStream"}, func(config runner.Config, _ string) (runner.Sample, error) {
				return rollout.Idle(fewer(replicas, config), reload.DefaultEvery/time.Duration(config.Shrink))
			}),
		}},
	}
}
