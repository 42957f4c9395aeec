package suites

import (
	"fmt"
	"time"

	"github.com/poolswap/poolswap/bench/internal/measure"
	"github.com/poolswap/poolswap/bench/internal/rollout"
	"github.com/poolswap/poolswap/reload"
)

// keepAtMost bounds the memory of all replicas of a case, each with two objects.
const keepAtMost = 8 << 30

// fleet is a publication to many replicas.
func fleet() measure.Suite {
	s := measure.Suite{
		Name:  "fleet",
		Title: "A publication to many replicas",
		About: "JetStream is a fleetd on this machine, with all replicas in another process: from the call of Publish until it has returned, and until the first, the median and the last " +
			"replica had swapped. Where object=kept, each replica reads the content into recycled memory; where object=hashed, it only hashes the content, because all " +
			"replicas together would need more than 8 GiB. Wire is what went through the connections in both directions, the publication included. HTTPHint is the same content from a file server " +
			"to replicas that are told to fetch it; HTTPPoll to replicas that ask every second. Publish is called again where the server refuses content that comes faster than its disk takes it.",
		Columns: []measure.Column{
			{Unit: "last-ns", Title: "last"},
			{Unit: "publish-ns", Title: "Publish"},
			{Unit: "first-ns", Title: "first"},
			{Unit: "median-ns", Title: "median"},
			{Unit: "server-cpu-ns", Title: "server CPU"},
			{Unit: "server-rss-bytes", Title: "server memory"},
			{Unit: "replicas-cpu-ns", Title: "replicas CPU"},
			{Unit: "wire-bytes", Title: "wire"},
			{Unit: "msgs", Title: "messages"},
			{Unit: "failures", Title: "failed attempts"},
			{Unit: "refused", Title: "Publish refused"},
		},
		OnRequest: true,
	}
	last := measure.Chart{Title: "Until the last replica has swapped", Kind: measure.Lines, Axis: "replicas, 10 MiB"}
	for _, size := range []int{1, 10, 50, 200} {
		for _, n := range []int{1, 4, 16, 64, 256} {
			c := publication(n, size)
			if size == 10 {
				last.Points = append(last.Points, measure.Point{Label: fmt.Sprint(n), Case: c.Name, Unit: "last-ns"})
			}
			s.Cases = append(s.Cases, c)
		}
	}
	s.Charts = []measure.Chart{last}
	return s
}

func publication(n, size int) measure.Case {
	keep, object := true, "kept"
	if 2*n*size*(1<<20) > keepAtMost {
		keep, object = false, "hashed"
	}
	c := measure.Case{
		Name: fmt.Sprintf("replicas=%d/size=%dMiB/object=%s", n, size, object), Ours: "JetStream", Untimed: true,
		Setup: time.Second + time.Duration(n*size)*2500*time.Microsecond, MostRounds: mostRounds(n * size),
	}
	c.Rivals = append(c.Rivals, measure.Rival{Name: "JetStream", Sample: func(config measure.Config) (measure.Sample, error) {
		return rollout.JetStream(fewer(n, config), config.Size(size<<20), keep)
	}})
	if size == 10 && (n == 16 || n == 64) {
		overHTTP := func(name string, every time.Duration) measure.Rival {
			return measure.Rival{Name: name, Sample: func(config measure.Config) (measure.Sample, error) {
				return rollout.HTTP(fewer(n, config), config.Size(size<<20), every/time.Duration(config.Shrink))
			}}
		}
		c.Rivals = append(c.Rivals, overHTTP("HTTPHint", 0), overHTTP("HTTPPoll", time.Second))
	}
	return c
}

// mostRounds leaves the cases that take minutes few rounds.
func mostRounds(mibs int) int {
	switch {
	case mibs > 40_000:
		return 1
	case mibs > 10_000:
		return 2
	}
	return 0
}

// fewer returns the number of replicas: in tests there are fewer, and still some.
func fewer(n int, config measure.Config) int {
	if config.Shrink > 1 {
		return min(n, 5)
	}
	return n
}

// fleetMemory is what one replica needs.
func fleetMemory() measure.Suite {
	s := measure.Suite{
		Name:  "fleetmemory",
		Title: "Memory of a replica beyond its objects",
		About: "JetStream is a replica of a fleetd, which reads content into recycled memory. Live is the most that is in use besides its two objects, seen by collections in the middle of the transfer. " +
			"System is by how much the memory of the process rises meanwhile with the default GOGC, which lets garbage grow to the size of what is in use before it collects.",
		Columns: []measure.Column{
			{Unit: "live-bytes", Title: "live"},
			{Unit: "rss-bytes", Title: "system"},
		},
		OnRequest: true,
	}
	for _, size := range []int{1, 10, 50, 200} {
		s.Cases = append(s.Cases, measure.Case{
			Name: fmt.Sprintf("size=%dMiB", size), Ours: "JetStream", Untimed: true, Setup: time.Second + time.Duration(size)*15*time.Millisecond,
			Rivals: []measure.Rival{{Name: "JetStream", Sample: func(config measure.Config) (measure.Sample, error) {
				return rollout.Memory(config.Size(size * mib))
			}}},
		})
	}
	return s
}

// fleetIdle is what a fleet costs between publications.
func fleetIdle() measure.Suite {
	const replicas = 64
	s := measure.Suite{
		Name:  "fleetidle",
		Title: "Idle replicas",
		About: "By replica and minute, what 64 replicas and their fleetd (JetStream) exchange that have nothing to do, with the default Options.Every: heartbeats of the watcher, " +
			"a question for the plan, and a report.",
		Columns: []measure.Column{
			{Unit: "msgs", Title: "messages"},
			{Unit: "wire-bytes", Title: "wire"},
			{Unit: "server-cpu-ns", Title: "server CPU"},
		},
		OnRequest: true,
	}
	s.Cases = append(s.Cases, measure.Case{
		Name: fmt.Sprintf("idle=%d", replicas), Ours: "JetStream", Untimed: true, Setup: 92 * time.Second, MostRounds: 1,
		Rivals: []measure.Rival{{Name: "JetStream", Sample: func(config measure.Config) (measure.Sample, error) {
			return rollout.Idle(fewer(replicas, config), reload.DefaultEvery/time.Duration(config.Shrink))
		}}},
	})
	return s
}
