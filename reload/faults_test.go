package reload_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/reload"
)

// TestFaults injects faults into every call that a Reloader makes. Readers get
// complete content all the time, errors say where they come from, and nothing is
// left open.
func TestFaults(t *testing.T) { //nolint:paralleltest // it counts open files
	runs := 10_000
	if testing.Short() {
		runs = 500
	}
	dir := t.TempDir()
	if shm, err := os.MkdirTemp("/dev/shm", "reload"); err == nil { //nolint:usetesting // memory, and no disk to wait for
		dir = shm
		t.Cleanup(func() { os.RemoveAll(shm) })
	}
	stacks := []struct {
		name   string
		cached bool
		source func(*faultyOrigin) reload.Source
	}{
		{"a source", false, func(o *faultyOrigin) reload.Source { return o }},
		{"FS", false, func(o *faultyOrigin) reload.Source { return reload.FS(o, "origin") }},
		{"HTTP", false, func(o *faultyOrigin) reload.Source {
			return reload.HTTP("http://host/origin", reload.HTTPOptions{Client: &http.Client{Transport: o}, Prepare: func(*http.Request) error { return o.spoil() }})
		}},
		{"a checksum", false, (*faultyOrigin).summed},
		{"a cache", true, func(o *faultyOrigin) reload.Source { return reload.Cache(o, filepath.Join(dir, "a")) }},
		{"a cache of a checksum", true, func(o *faultyOrigin) reload.Source { return reload.Cache(o.summed(), filepath.Join(dir, "b")) }},
		{"a join", false, func(o *faultyOrigin) reload.Source { return reload.Join(o.parts()...) }},
		{"a join of caches", true, func(o *faultyOrigin) reload.Source {
			parts := o.parts()
			for i, part := range parts {
				parts[i] = reload.Cache(part, filepath.Join(dir, string(rune('c'+i))))
			}
			return reload.Join(parts...)
		}},
	}
	outcomes := map[reload.Outcome]int{}
	stages := map[reload.Stage]int{}
	number := 0
	for run := range runs {
		seed := rand.Uint64()
		o := &faultyOrigin{faults: &faults{Rand: rand.New(rand.NewPCG(seed, 0))}, number: number}
		stack := stacks[run%len(stacks)]
		checkRun(t, o, stack.source(o), stack.cached, outcomes, stages)
		number = o.number
		if t.Failed() {
			t.Fatalf("run %d, %s, seed %d", run, stack.name, seed)
		}
	}
	for _, outcome := range []reload.Outcome{reload.Loaded, reload.NotModified, reload.Failed} {
		if outcomes[outcome] < runs/10 {
			t.Errorf("%d attempts were %s", outcomes[outcome], outcome)
		}
	}
	for _, stage := range []reload.Stage{reload.Fetching, reload.Reading, reload.Loading, reload.Verifying, reload.Publishing} {
		if stages[stage] == 0 {
			t.Errorf("no attempt failed at %s", stage)
		}
	}
	if left := openBelow(dir); len(left) > 0 {
		t.Errorf("files are open: %q", left)
	}
	for _, cache := range []string{"a", "b", "c", "d", "e", "f"} {
		if names := filesIn(t, filepath.Join(dir, cache)); strings.Join(names, " ") != strings.Join(onlyTheKept, " ") {
			t.Errorf("the cache has %v", names)
		}
	}
	t.Log(outcomes, stages)
}

// openBelow returns the files below dir that the process has open, but for the locks of
// its Caches.
func openBelow(dir string) (left []string) {
	links, _ := filepath.Glob("/proc/self/fd/*")
	for _, link := range links {
		if name, err := os.Readlink(link); err == nil && strings.HasPrefix(name, dir) && !strings.HasPrefix(filepath.Base(name), "lock") {
			left = append(left, name)
		}
	}
	return left
}

// checkRun changes content and makes attempts, and checks what readers get.
func checkRun(t *testing.T, o *faultyOrigin, source reload.Source, cached bool, outcomes map[reload.Outcome]int, stages map[reload.Stage]int) {
	pool := poolswap.NewPoolWithOptions(func() *text { return new(text) }, nil, poolswap.Options[text]{Spares: 8}) // all that there are, for Stats
	c := poolswap.NewEmptyContainer(pool)
	var last reload.Event
	fresh := false // content of the origin was published
	r := reload.New(c, source, o.load, reload.Options{Logger: quiet, Observe: func(e reload.Event) {
		last = e
		fresh = fresh || e.Outcome == reload.Loaded && e.Stale == nil
	}})
	oldest := o.number
	o.change()
	var held *text
	var heldNumber int
	for range 8 {
		if o.IntN(3) == 0 {
			o.change()
		}
		before := c.Version()
		ctx, cancel := context.WithCancel(t.Context())
		o.cancel, o.spoilt, fresh = cancel, false, false
		err := r.Reload(ctx)
		cancel()
		outcomes[last.Outcome]++
		s := r.Status()
		number, tornErr := whole([]byte(current(c)))
		switch {
		case before == 0 && c.Version() == 0:
		case tornErr != nil:
			t.Errorf("readers get torn content: %v", tornErr)
		case !cached && number <= oldest || number > o.number:
			t.Errorf("readers get content %d of %d to %d", number, oldest+1, o.number)
		case err == nil && s.Refused == "" && s.Stale == nil && number != o.number:
			t.Errorf("Reload says that the newest content is loaded, and readers get %d, not %d", number, o.number)
		}
		if o.spoilt && fresh {
			t.Error("content was published that a fault had spoilt")
		}
		if o.open != 0 {
			t.Errorf("%d bodies are open after the attempt", o.open)
		}
		if err != nil {
			var failure *reload.Error
			if !errors.As(err, &failure) || failure.Source != s.Source || failure.Stage == "" || failure.Current != before || !strings.HasPrefix(err.Error(), "reload: "+s.Source+":") {
				t.Errorf("the error is %v", err)
				continue
			}
			stages[failure.Stage]++
			if c.Version() != before {
				t.Errorf("Reload failed and published: %v", err)
			}
		}
		if held != nil && o.IntN(2) == 0 {
			if n, err := whole(held.value); err != nil || n != heldNumber {
				t.Errorf("the content that a reader holds has become content %d (%v), not %d", n, err, heldNumber)
			}
			c.Release(held)
			held = nil
		} else if held == nil && c.Version() != 0 {
			held, heldNumber = c.Acquire(), number
		}
	}
	c.Release(held)
	o.over = true
	o.change()
	if err := r.Reload(t.Context()); err != nil {
		t.Errorf("without faults: %v", err)
	}
	if number, err := whole([]byte(current(c))); err != nil || number != o.number {
		t.Errorf("without faults readers get %d (%v), not %d", number, err, o.number)
	}
	if err := errors.Join(c.Close(t.Context()), pool.Close(t.Context())); err != nil {
		t.Error(err)
	}
	if s := pool.Stats(); s.Live != 0 || s.Retired != 0 || s.Held != 0 {
		t.Errorf("the pool has %+v", s)
	}
}
