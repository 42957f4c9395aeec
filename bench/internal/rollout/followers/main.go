// Command followers follows the plan of a name with many replicas, and reports as they
// do: it says when all of them know a plan, and when all have swapped.
package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http/httptrace"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/poolswap/poolswap/fleet"
	"github.com/poolswap/poolswap/reload"
)

// Arguments: URL, file of the CA or nothing, file of the token, name, first number, count.
func main() {
	if err := follow(os.Args[1], os.Args[2], os.Args[3], os.Args[4], number(os.Args[5]), number(os.Args[6])); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func number(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		panic(err)
	}
	return n
}

// counts tells when all of the replicas have come so far.
type counts struct {
	replicas int

	mu   sync.Mutex
	come map[string]int   // replicas, by event
	last map[string]int64 // of them, in nanoseconds
}

func (c *counts) add(event string, at int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.come[event]++
	c.last[event] = max(c.last[event], at)
	if c.come[event] == c.replicas {
		fmt.Printf("%s %d\n", event, c.last[event])
	}
}

// noted notes when a poll is answered with a plan that wants another revision.
type noted struct {
	*fleet.Source
	all *counts

	mu    sync.Mutex
	plans int // that are known
	loads int
}

// know notes the next plan, unless it is known.
func (s *noted) know(next int, at int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if next > s.plans {
		s.plans = next
		s.all.add(fmt.Sprint("known ", next), at)
	}
}

// loaded notes a load. The first is of no change, and an attempt by the clock may come
// before the poll.
func (s *noted) loaded() {
	s.mu.Lock()
	s.loads++
	next := s.loads - 1
	s.mu.Unlock()
	s.know(next, time.Now().UnixNano())
}

func (s *noted) Wait(ctx context.Context, have string) error {
	var answered atomic.Int64
	trace := &httptrace.ClientTrace{GotFirstResponseByte: func() { answered.Store(time.Now().UnixNano()) }}
	err := s.Source.Wait(httptrace.WithClientTrace(ctx, trace), have)
	if err == nil && have != "" {
		s.mu.Lock()
		next := s.loads
		s.mu.Unlock()
		s.know(next, answered.Load())
	}
	return err
}

func follow(url, ca, token, name string, first, count int) error {
	silent := slog.New(slog.DiscardHandler)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var running sync.WaitGroup
	all := &counts{replicas: count, come: map[string]int{}, last: map[string]int64{}}
	for i := range count {
		client, err := fleet.NewClient(url, fleet.ClientOptions{TokenFile: token, CAFile: ca})
		if err != nil {
			return err
		}
		source, err := fleet.NewSource(client, name, fleet.SourceOptions{ID: fmt.Sprintf("replica-%06d", first+i), Logger: silent})
		if err != nil {
			return err
		}
		drop := func(_ context.Context, content *reload.Content) (int, error) {
			_, err := io.Copy(io.Discard, content.Body)
			return 0, err
		}
		follower := &noted{Source: source, all: all}
		value := reload.NewValue(follower, drop, reload.Options{Logger: silent, Observe: func(e reload.Event) {
			source.Observe(e)
			if e.Outcome == reload.Loaded {
				follower.loaded()
				all.add("swapped "+e.Revision, time.Now().UnixNano())
			}
		}})
		running.Go(func() { _ = value.Run(ctx) })
	}
	_, _ = io.Copy(io.Discard, os.Stdin)
	cancel()
	running.Wait()
	return nil
}
