package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"time"
)

// run is a run over faults and layers.
type run struct {
	layers []layer
	first  bool // each fault until a layer catches it
	record bool
	times  int

	catches map[string]catch // by fault, as recorded before
	caught  map[string]catch // the same in this run, but for those that are as recorded
	sound   baseline
}

// wanted says which tests of a layer run: those in dirs, or one of them.
type wanted struct {
	dirs []string
	test string
}

// row is the result for a fault.
type row struct {
	verdicts []verdict // by layer; "" if it was not run
	found    findings
	by       catch // where it was caught first
	hinted   bool  // by its recorded test
	took     time.Duration
}

// tabulate plants the faults, as many at a time as there are processors, and
// prints the table in their order. It returns the faults that survived.
func (r *run) tabulate(ctx context.Context, planted []fault) (survivors []string, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	if r.sound.scratch, err = newScratch(); err != nil {
		return nil, err
	}
	defer r.sound.scratch.remove()

	r.caught = make(map[string]catch)
	rows := make([]chan row, len(planted))
	for i := range rows {
		rows[i] = make(chan row, 1)
	}
	next := make(chan int, len(planted))
	for i := range planted {
		next <- i
	}
	close(next)
	var workers sync.WaitGroup
	defer workers.Wait()
	defer cancel(nil)
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			s, err := newScratch()
			if err != nil {
				cancel(err)
				return
			}
			defer s.remove()
			for i := range next {
				done, err := r.plant(ctx, s, planted[i])
				if err != nil {
					cancel(err)
					return
				}
				rows[i] <- done
			}
		})
	}

	fmt.Print("| fault |")
	for _, l := range r.layers {
		fmt.Printf(" %s |", l.name)
	}
	fmt.Printf(" seconds | bug of the model |\n|---|%s---|---|\n", strings.Repeat("---|", len(r.layers)))
	for i, f := range planted {
		select {
		case done := <-rows[i]:
			fmt.Printf("| %s |", f.name)
			for _, v := range done.verdicts {
				fmt.Printf(" %s |", v)
			}
			fmt.Printf(" %.0f | %s |\n", done.took.Seconds(), inModel[f.name])
			if r.first && !done.hinted {
				r.caught[f.name] = done.by
			}
			if name := done.found.survivor(f.name); name != "" {
				survivors = append(survivors, name)
			}
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	return survivors, nil
}

// plant plants f in s and tries the layers.
func (r *run) plant(ctx context.Context, s *scratch, f fault) (done row, err error) {
	begun := time.Now()
	restore, err := s.plant(f)
	if err != nil {
		return row{}, err
	}
	done.verdicts = make([]verdict, len(r.layers))
	if r.first {
		if err := r.tryHint(ctx, s, f, &done); err != nil {
			return row{}, err
		}
	}
	for i, l := range r.layers {
		if !l.sees(f) || r.first && done.found.caught {
			continue
		}
		all := wanted{dirs: l.dirsFor(f)}
		limit, err := r.sound.limit(ctx, l, all)
		if err == nil {
			err = r.try(ctx, s, i, all, limit, &done)
		}
		if err != nil {
			return row{}, fmt.Errorf("%s: %w", f.name, err)
		}
	}
	done.took = time.Since(begun)
	return done, restore()
}

// tryHint tries the test that caught f before. If a scheduler sees the fault, the
// scheduler has to catch it, so another layer's test does not do. Nor does a test
// that fails by itself without a fault.
func (r *run) tryHint(ctx context.Context, s *scratch, f fault, done *row) error {
	hint, known := r.catches[f.name]
	for i, l := range r.layers {
		switch {
		case !known || !l.sees(f):
		case l.name == hint.layer:
			one := wanted{[]string{hint.dir}, hint.test}
			limit, err := r.sound.limit(ctx, l, one)
			if err != nil {
				return ctx.Err()
			}
			if err := r.try(ctx, s, i, one, limit, done); err != nil {
				return fmt.Errorf("%s: %w", f.name, err)
			}
			if done.hinted = done.found.caught; !done.hinted {
				done.found = findings{}
			}
			return nil
		case l.isScheduler():
			return nil
		}
	}
	return nil
}

// try tries a layer, or one test of it, and notes the verdict.
func (r *run) try(ctx context.Context, s *scratch, at int, w wanted, limit time.Duration, done *row) error {
	l := r.layers[at]
	found, err := eachTime(r.times, func() (outcome, error) { return s.try(ctx, l, w, limit) })
	if err != nil {
		return fmt.Errorf("layer %s: %w", l.name, err)
	}
	done.verdicts[at] = found.verdict
	if found.verdict.isCaught() && !done.found.caught {
		done.by = catch{l.name, found.dir, found.test}
	}
	done.found.add(l, found.verdict)
	return nil
}

// baseline runs tests without a fault. They must pass, and their times become
// limits: tests that take many times as long with a fault hang.
type baseline struct {
	scratch *scratch
	mu      sync.Mutex
	known   map[string]time.Duration
}

// limit returns how long the tests of l may run.
func (b *baseline) limit(ctx context.Context, l layer, w wanted) (time.Duration, error) {
	const patience = 8
	key := fmt.Sprint(l.name, w)
	b.mu.Lock()
	defer b.mu.Unlock()
	if limit := b.known[key]; limit > 0 {
		return limit, nil
	}
	begun := time.Now()
	found, err := b.scratch.try(ctx, l, w, time.Hour)
	if err == nil && found.verdict != survived {
		err = errors.New("it fails without a fault")
	}
	if err != nil {
		return 0, fmt.Errorf("layer %s %s: %w", l.name, found.test, err)
	}
	if b.known == nil {
		b.known = make(map[string]time.Duration)
	}
	b.known[key] = max(time.Minute, patience*time.Since(begun))
	return b.known[key], nil
}

// findings sums up the layers that tried a fault.
type findings struct {
	caught bool // by a layer
	missed bool // by the scheduler, which can see the fault
}

func (f *findings) add(l layer, v verdict) {
	f.caught = f.caught || v.isCaught()
	if l.isScheduler() { // the brief one comes first
		f.missed = !v.isCaught()
	}
}

// survivor returns the name of the fault if it survived, with the layer if
// that is the scheduler alone, and else nothing.
func (f *findings) survivor(name string) string {
	switch {
	case !f.caught:
		return name
	case f.missed:
		return name + " (scheduler)"
	}
	return ""
}
