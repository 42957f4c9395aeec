package rollout

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"runtime"
	"runtime/debug"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/bench/internal/runner"
	"github.com/poolswap/poolswap/reload"
)

// looks is how often a load looks at the heap.
const looks = 32

// Memory measures what a replica of an object of size bytes needs beyond its two
// objects: of live memory, and of the system with the collector's default
// settings.
func Memory(size int) (runner.Sample, error) {
	t, err := newTeam(0, 0)
	if err != nil {
		return runner.Sample{}, err
	}
	defer t.close()
	source, err := t.source("replica")
	if err != nil {
		return runner.Sample{}, err
	}
	objects := poolswap.NewEmptyContainer(poolswap.NewPool(func() *object { return &object{memory: touched(size)} }, nil))
	looking, base, live := false, 0.0, 0.0
	reloader := reload.New(objects, source, func(_ context.Context, next, _ *object, content *reload.Content) error {
		step := max(1, size/looks)
		for at := 0; at < size; at += step {
			n, err := io.ReadFull(content.Body, next.memory[at:min(at+step, size)])
			next.content = next.memory[:at+n]
			if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
				return nil
			}
			if err != nil {
				return err
			}
			if looking {
				live = max(live, liveHeap()-base)
			}
		}
		return nil
	}, reload.Options{Logger: silent, Observe: source.Observe})

	sample := runner.Sample{Iterations: 1, Values: map[string]float64{}}
	for round := range 4 { // two to make both objects, one for the system's view, one for the heap's
		if _, _, err := t.publish(randomBytes(size, round)); err != nil {
			return sample, err
		}
		debug.FreeOSMemory()
		before, seen := 0.0, false
		if round == 2 && forgetPeak() {
			before, seen = peakMemory(os.Getpid())
		}
		looking, base = round == 3, liveHeap()
		if err := reloader.Reload(context.Background()); err != nil {
			return sample, err
		}
		if peak, ok := peakMemory(os.Getpid()); ok && seen {
			sample.Values["rss-bytes"] = peak - before
		}
	}
	sample.Values["live-bytes"] = live
	o := objects.Acquire()
	defer objects.Release(o)
	if !bytes.Equal(o.content, randomBytes(size, 3)) {
		return sample, errors.New("the replica does not have the content")
	}
	return sample, nil
}

// liveHeap returns the bytes that are in use.
func liveHeap() float64 {
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return float64(stats.HeapAlloc)
}
