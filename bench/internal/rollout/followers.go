package rollout

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/poolswap/poolswap/bench/internal/runner"
)

// perProcess is how many followers one process has.
const perProcess = 1000

// Followers measures how long it takes until n replicas, in processes of 1,000, know a
// change of the plan and have fetched its 64 bytes; and, with idle above 0, the cost of
// so long without a change, to the server.
func Followers(n int, idle time.Duration) (sample runner.Sample, err error) {
	server, err := startFleetd(false)
	if err != nil {
		return sample, err
	}
	defer server.close()
	first, err := server.publish([]byte("first"))
	if err != nil {
		return sample, err
	}
	var all []*process
	defer func() {
		for _, one := range all {
			one.close()
		}
	}()
	for from := 0; from < n; from += perProcess {
		one, err := start("bench/internal/rollout/followers", "", server.url, server.replicas, name, strconv.Itoa(from), strconv.Itoa(min(perProcess, n-from)))
		if err != nil {
			return sample, err
		}
		all = append(all, one)
	}
	if _, err := known(all, first.revision); err != nil {
		return sample, err
	}
	time.Sleep(settle)
	values := map[string]float64{}
	if idle > 0 {
		before := server.processorTime()
		time.Sleep(idle)
		values["idle-cpu-ns"] = float64(server.processorTime()-before) / float64(n) * float64(time.Minute) / float64(idle)
	}
	p, err := server.publish(random(64))
	if err != nil {
		return sample, err
	}
	last, err := known(all, p.revision)
	if err != nil {
		return sample, err
	}
	values["last-ns"] = float64(last.Sub(p.begin))
	return server.sample(n, p.spent, values), nil
}

// known returns when the last process knew a revision.
func known(all []*process, revision string) (last time.Time, err error) {
	for _, one := range all {
		text, err := one.line("known " + revision + " ")
		if err != nil {
			return last, err
		}
		nanoseconds, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
		if err != nil {
			return last, fmt.Errorf("followers: %w", err)
		}
		if at := time.Unix(0, nanoseconds); at.After(last) {
			last = at
		}
	}
	if last.IsZero() {
		return last, errors.New("there are no followers")
	}
	return last, nil
}
