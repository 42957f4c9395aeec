package session

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/poolswap/poolswap/bench/internal/measure"
	"github.com/poolswap/poolswap/bench/internal/results"
)

// Session is one run of suites.
type Session struct {
	Suites []measure.Suite
	Count  int           // samples of each rival in each case
	Time   time.Duration // the clock of one sample; 0 leaves it to the suite
	Full   bool

	Progress Progress
	Stderr   io.Writer // of the children

	// Finished, if not nil, is called after each suite.
	Finished func(*measure.Suite)
}

// Progress learns of each sample before it is taken, while nothing runs.
type Progress interface {
	Next(s *measure.Suite, c *measure.Case, r *measure.Rival, round int)
	Hide() // something else is about to be shown
	Done()
}

// Run takes all samples and adds them to run. When it returns an error, run
// holds those taken so far.
func (s *Session) Run(ctx context.Context, run *results.Run) error {
	defer s.Progress.Done()
	for i := range s.Suites {
		suite := &s.Suites[i]
		err := s.suite(ctx, suite, run)
		if ctx.Err() != nil {
			return context.Cause(ctx) // not an error that the end of the context caused
		}
		if err != nil {
			return err
		}
		if s.Finished != nil {
			s.Progress.Hide()
			s.Finished(suite)
		}
	}
	return nil
}

// suite runs one suite, with a new child wherever the memory limit changes.
func (s *Session) suite(ctx context.Context, suite *measure.Suite, run *results.Run) error {
	var current *child
	defer func() {
		if current != nil {
			_ = current.stop()
		}
	}()
	for i := range suite.Cases {
		c := &suite.Cases[i]
		if !c.OwnProcess && (current == nil || c.MemoryLimit != current.memoryLimit) {
			if current != nil {
				_ = current.stop()
			}
			var err error
			if current, err = start(ctx, c.MemoryLimit, s.Stderr); err != nil {
				return err
			}
		}
		if err := s.measureCase(ctx, current, suite, c, run); err != nil {
			return err
		}
	}
	return nil
}

// measureCase takes the samples of a case in turns, A B C A B C, so that a
// change on the machine meets all rivals.
func (s *Session) measureCase(ctx context.Context, current *child, suite *measure.Suite, c *measure.Case, run *results.Run) error {
	config := measure.Config{Time: s.time(suite), Shrink: 1}
	for round := range s.rounds(c) {
		for i := range c.Rivals {
			rival := &c.Rivals[i]
			s.Progress.Next(suite, c, rival, round)
			sample, err := s.sample(ctx, current, c, request{suite.Name, c.Name, rival.Name, config})
			if err != nil {
				return fmt.Errorf("suite %s, case %s, %s: %w", suite.Name, c.Name, rival.Name, err)
			}
			run.Get(suite.Name, c.Name, rival.Name).Add(sample.Iterations, sample.Values)
		}
	}
	return nil
}

// sample takes one sample, with the current child or with one for it alone.
func (s *Session) sample(ctx context.Context, current *child, c *measure.Case, q request) (measure.Sample, error) {
	if !c.OwnProcess {
		return current.sample(q)
	}
	own, err := start(ctx, c.MemoryLimit, s.Stderr)
	if err != nil {
		return measure.Sample{}, err
	}
	defer func() { _ = own.stop() }()
	return own.sample(q)
}

// rounds is how many samples of each rival are taken in a case.
func (s *Session) rounds(c *measure.Case) int {
	if c.MostRounds > 0 {
		return min(s.Count, c.MostRounds)
	}
	return s.Count
}

func (s *Session) time(suite *measure.Suite) time.Duration {
	switch {
	case s.Time > 0:
		return s.Time
	case s.Full:
		return suite.FullTime
	}
	return suite.Time
}

// Estimate returns about how long the session takes.
func (s *Session) Estimate() time.Duration {
	var total time.Duration
	for i := range s.Suites {
		for j := range s.Suites[i].Cases {
			c := &s.Suites[i].Cases[j]
			total += s.cost(&s.Suites[i], c) * time.Duration(s.rounds(c)*len(c.Rivals))
		}
	}
	return total
}

// cost is about how long one sample takes.
func (s *Session) cost(suite *measure.Suite, c *measure.Case) time.Duration {
	if c.Untimed {
		return c.Setup
	}
	return s.time(suite)*5/4 + c.Setup
}
