package suites

import (
	"fmt"
	"time"

	"github.com/poolswap/poolswap/bench/internal/rollout"
	"github.com/poolswap/poolswap/bench/internal/runner"
)

// fleet is a publication to many replicas.
func fleet() runner.Suite {
	s := runner.Suite{
		Name:  "fleet",
		Title: "A publication to many replicas",
		About: "fleetd is a server on this machine, with all replicas in another process, from the change of the plan until the last replica had swapped: each fetches the content, " +
			"hashes it and drops it. Files is a Go file server whose clients get the same file, hash it and drop it.",
		Columns:   runner.Columns("last-ns", "last", "server-cpu-ns", "server CPU", "server-rss-bytes", "server memory", "publish-ns", "store"),
		OnRequest: true,
	}
	for _, size := range []int{10, 200} {
		for _, secure := range []bool{false, true} {
			s.Cases = append(s.Cases, transfer(256, size, secure))
		}
	}
	return s
}

func transfer(n, size int, secure bool) runner.Case {
	return runner.Case{
		Name: fmt.Sprintf("replicas=%d/size=%dMiB/tls=%t", n, size, secure), Ours: "fleetd",
		Setup: time.Second + time.Duration(n*size)*time.Millisecond,
		Rivals: each([]string{"fleetd", "Files"}, func(config runner.Config, rival string) (runner.Sample, error) {
			replicas, bytes := fewer(n, config), config.Size(size*mib)
			if rival == "Files" {
				return rollout.Files(replicas, bytes, secure)
			}
			return rollout.Fleet(replicas, bytes, secure)
		}),
	}
}

// fewer returns the number of replicas: in tests there are fewer, and still some.
func fewer(n int, config runner.Config) int {
	if config.Shrink > 1 {
		return min(n, 5)
	}
	return n
}

// fleetMany is a change that very many replicas learn, and the cost of waiting for it.
func fleetMany() runner.Suite {
	s := runner.Suite{
		Name:  "fleetmany",
		Title: "A change that many replicas learn",
		About: "fleetd is a server on this machine. Replicas in processes of 1,000 wait for the plan. Known is from a change of the plan until its last replica has it, and last until all have " +
			"swapped to its content of 64 bytes. The idle cost is the server's CPU time by replica and minute, with a report each 30 s.",
		Columns:   runner.Columns("known-ns", "known", "last-ns", "last", "server-cpu-ns", "server CPU", "idle-cpu-ns", "idle", "server-rss-bytes", "server memory"),
		OnRequest: true,
	}
	for _, c := range []struct {
		n      int
		secure bool
	}{{1000, false}, {10000, false}, {10000, true}} {
		s.Cases = append(s.Cases, runner.Case{
			Name: fmt.Sprintf("replicas=%d/tls=%t", c.n, c.secure), Ours: "fleetd", Setup: 2 * time.Minute, MostRounds: 1,
			Rivals: each([]string{"fleetd"}, func(config runner.Config, _ string) (runner.Sample, error) {
				return rollout.Followers(fewer(c.n, config), c.secure, time.Minute/time.Duration(config.Shrink))
			}),
		})
	}
	return s
}

// fleetDelta is a few rows of a large table that change again and again.
func fleetDelta() runner.Suite {
	return runner.Suite{
		Name:  "fleetdelta",
		Title: "Ten of a million rows changed, each second for a minute",
		About: "fleetd is a server on this machine. In another process, 8 replicas have a table of a million rows of 200 bytes, compare the digest of the rows, and have a reader each, of 100,000 rows a second where there is time; " +
			"248 verify and count the rows. All verify the signature. The delay, of all replicas and publications, is from the call of PublishDelta until the replica has swapped; fetched is by each replica " +
			"for each change. Whole is the first publication: until the last of the replicas, which start together, had fetched and loaded all rows. Compiled is the bytes of a block diff of a sorted " +
			"table with an index, in which ten rows became longer. Store is the growth of the server's folder in a minute.",
		Columns: runner.Columns("p50-ns", "median delay", "p95-ns", "95th percentile", "last-ns", "longest", "fetched-bytes", "fetched", "whole-ns", "whole", "whole-bytes", "whole content",
			"compiled-bytes", "compiled", "stored-bytes", "store", "lookups/s", "lookups/s", "server-cpu-ns", "server CPU", "server-rss-bytes", "server memory"),
		OnRequest: true,
		Cases: []runner.Case{{
			Name: "rows=1M/changes=10/replicas=256", Ours: "fleetd", Setup: 4 * time.Minute, MostRounds: 1, MemoryLimit: "6GiB",
			Rivals: each([]string{"fleetd"}, func(config runner.Config, _ string) (runner.Sample, error) {
				c := rollout.Changes{Rows: config.Size(1_000_000), Each: 10, Updates: 60, Every: time.Second}
				if config.Shrink > 1 {
					c.Updates, c.Every = 3, 0
				}
				return rollout.Deltas(c, fewer(8, config), fewer(248, config))
			}),
		}},
	}
}
