package rollout

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/reload"
)

// object is what a replica keeps: its content, in memory that is used again.
type object struct {
	poolswap.Ref
	memory  []byte // nil where the replica only reads content and hashes it
	content []byte // the part of memory that is in use
}

// replicas are replicas that run.
type replicas struct {
	all    []*replica
	cancel context.CancelFunc
	ended  sync.WaitGroup
}

type replica struct {
	objects  *poolswap.Container[object, *object]
	reloader *reload.Reloader
	swapped  chan swap
}

// swap says that a replica has another revision.
type swap struct {
	revision string
	at       time.Time
}

var silent = slog.New(slog.DiscardHandler)

// startReplicas starts n replicas. With size 0 they keep no content; with another
// one each has two objects with memory of that size.
func startReplicas(n, size int, every time.Duration, source func(i int) (reload.Source, func(reload.Event), error)) (*replicas, error) {
	ctx, cancel := context.WithCancel(context.Background())
	r := &replicas{cancel: cancel}
	for i := range n {
		origin, observe, err := source(i)
		if err != nil {
			r.stop()
			return nil, err
		}
		one := newReplica(size, every, origin, observe)
		r.all = append(r.all, one)
		r.ended.Go(func() { _ = one.reloader.Run(ctx) })
	}
	return r, nil
}

func newReplica(size int, every time.Duration, source reload.Source, observe func(reload.Event)) *replica {
	one := &replica{swapped: make(chan swap, 16)}
	pool := poolswap.NewPool(func() *object { return &object{memory: touched(size)} }, nil)
	one.objects = poolswap.NewEmptyContainer(pool)
	one.reloader = reload.New(one.objects, source, load, reload.Options{Every: every, Logger: silent, Observe: func(e reload.Event) {
		if observe != nil {
			observe(e)
		}
		if e.Outcome == reload.Loaded {
			one.swapped <- swap{e.Revision, time.Now()}
		}
	}})
	return one
}

// touched returns memory that the system has given already.
func touched(size int) []byte {
	const page = 4096
	memory := make([]byte, size)
	for i := 0; i < size; i += page {
		memory[i] = 1
	}
	return memory
}

// load reads content into the memory of next, or through a buffer where that has
// none. The Reloader hashes what is read.
func load(_ context.Context, next, _ *object, content *reload.Content) error {
	if len(next.memory) == 0 {
		_, err := io.Copy(io.Discard, content.Body)
		return err
	}
	n, err := io.ReadFull(content.Body, next.memory)
	next.content = next.memory[:n]
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// settle is how long replicas are left alone between one publication and the next:
// a Reloader takes a hint every 100 ms at most, and the clock is not for that.
const settle = 300 * time.Millisecond

// patience bounds how long a replica may take to swap.
const patience = 5 * time.Minute

// await waits until every replica has swapped to a revision and returns the times
// that took since begin, in order.
func (r *replicas) await(revision string, begin time.Time) ([]time.Duration, error) {
	timeout := time.After(patience)
	var times []time.Duration
	for i, one := range r.all {
		for found := false; !found; {
			select {
			case s := <-one.swapped:
				if found = s.revision == revision; found {
					times = append(times, s.at.Sub(begin))
				}
			case <-timeout:
				return nil, fmt.Errorf("replica %d does not swap to revision %s within %v", i, revision, patience)
			}
		}
	}
	slices.Sort(times)
	return times, nil
}

// check returns an error if a replica has not exactly this content. One that keeps
// none has the revision, whose digest was checked.
func (r *replicas) check(revision string, content []byte) error {
	for i, one := range r.all {
		if got := one.reloader.Status().Revision; got != revision {
			return fmt.Errorf("replica %d runs revision %q, not %q", i, got, revision)
		}
		o := one.objects.Acquire()
		same := len(o.memory) == 0 || bytes.Equal(o.content, content)
		one.objects.Release(o)
		if !same {
			return fmt.Errorf("replica %d does not have the content of revision %s", i, revision)
		}
	}
	return nil
}

// stop ends the replicas.
func (r *replicas) stop() {
	r.cancel()
	r.ended.Wait()
	for _, one := range r.all {
		_ = one.objects.Close(context.Background()) // no reader is left that it would wait for
	}
}
