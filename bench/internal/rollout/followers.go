package rollout

import (
	"fmt"
	"path/filepath"
	"strconv"
	"time"

	"github.com/poolswap/poolswap/bench/internal/runner"
)

// perProcess is how many followers one process has.
const perProcess = 1000

// Followers measures how long it takes until n replicas, in processes of 1,000, know a
// change of the plan, and until they have swapped to its 64 bytes; and, with idle above
// 0, the cost of so long without a change, to the server.
func Followers(n int, secure bool, idle time.Duration) (sample runner.Sample, err error) {
	server, err := startFleetd(secure)
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
		one, err := start("bench/internal/rollout/followers", "", server.url, server.ca, server.replicas, name, strconv.Itoa(from), strconv.Itoa(min(perProcess, n-from)))
		if err != nil {
			return sample, err
		}
		all = append(all, one)
		if _, err := one.time("swapped " + first.revision); err != nil { // thousands that start at once are not the question
			return sample, err
		}
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
	for _, event := range []struct{ unit, text string }{{"known-ns", "known " + p.plan}, {"last-ns", "swapped " + p.revision}} { // they come in this order
		last, err := latest(all, event.text)
		if err != nil {
			return sample, err
		}
		values[event.unit] = float64(last.Sub(p.begin))
	}
	return server.sample(n, p.spent, values), nil
}

// latest returns when an event had come to the replicas of all processes.
func latest(all []*process, event string) (last time.Time, err error) {
	for _, one := range all {
		at, err := one.time(event)
		if err != nil {
			return last, err
		}
		if at.After(last) {
			last = at
		}
	}
	return last, nil
}

// time returns when an event had come to all replicas of the process.
func (p *process) time(event string) (time.Time, error) {
	text, err := p.line(event + " ")
	if err != nil {
		return time.Time{}, err
	}
	nanoseconds, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return time.Time{}, fmt.Errorf("%s: %w", filepath.Base(p.command.Path), err)
	}
	return time.Unix(0, nanoseconds), nil
}
