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

// object is the object of a replica: its content, in memory that is used again.
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

// startReplicas starts n replicas, which ask their sources that often. With size 0
// they keep no content; with another one each has two objects with memory of that
// size.
func startReplicas(n, size int, every time.Duration, source func(i int) (reload.Source, func(reload.Event), error)) (*replicas, error) {
	ctx, cancel := context.WithCancel(context.Background())
	r := &replicas{cancel: cancel}
	for i := range n {
		origin, observe, err := source(i)
		if err != nil {
			r.stop()
			return nil, err
		}
		one := &replica{swapped: make(chan swap, 16)}
		// The system has given each page of the memory already.
		one.objects = poolswap.NewEmptyContainer(poolswap.NewPool(func() *object { return &object{memory: bytes.Repeat([]byte{1}, size)} }, nil))
		one.reloader = reload.New(one.objects, origin, load, reload.Options{Every: every, Logger: silent, Observe: func(e reload.Event) {
			if observe != nil {
				observe(e)
			}
			if e.Outcome == reload.Loaded {
				one.swapped <- swap{e.Revision, time.Now()}
			}
		}})
		r.all = append(r.all, one)
		r.ended.Go(func() { _ = one.reloader.Run(ctx) })
	}
	return r, nil
}

// load reads content into the memory of next, or through a buffer where that has
// none. The Reloader hashes the content.
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

// patience bounds how long replicas may take to swap.
const patience = 5 * time.Minute

// await waits until every replica has swapped to a revision and returns how long
// the last one took since begin.
func (r *replicas) await(revision string, begin time.Time) (last time.Duration, err error) {
	timeout := time.After(patience)
	var times []time.Duration
	for i, one := range r.all {
		for len(times) == i {
			select {
			case s := <-one.swapped:
				if s.revision == revision {
					times = append(times, s.at.Sub(begin))
				}
			case <-timeout:
				return 0, fmt.Errorf("replica %d does not swap to revision %s within %v", i, revision, patience)
			}
		}
	}
	return slices.Max(times), nil
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
