package runner

import (
	"context"
	"io"
	"time"
)

// Session is one run of suites.
type Session struct {
	Suites []Suite
	Count  int           // samples of each rival in each case
	Time   time.Duration // the clock of one sample; 0 leaves it to the suite
	Full   bool

	Stderr   io.Writer // for the progress, and of the children
	Terminal bool      // Stderr can show a bar

	// Finished, if not nil, is called after each suite.
	Finished func(*Suite)
}

// Run takes all samples and adds them to run. When it returns an error, run
// holds those taken so far.
func (s *Session) Run(ctx context.Context, run *Run) error {
	progress := newProgress(s)
	defer progress.hide()
	for i := range s.Suites {
		suite := &s.Suites[i]
		for j := range suite.Cases {
			err := s.measure(ctx, suite, &suite.Cases[j], run, progress)
			if ctx.Err() != nil {
				return context.Cause(ctx) // not an error that the end of the context caused
			}
			if err != nil {
				return err
			}
		}
		if s.Finished != nil {
			progress.hide()
			s.Finished(suite)
		}
	}
	return nil
}

// measure takes the samples of a case in turns, A B C A B C, so that a change on
// the machine meets all rivals. No sample finds garbage of another: each has a
// process of its own.
func (s *Session) measure(ctx context.Context, suite *Suite, c *Case, run *Run, progress *progress) error {
	config := Config{Time: s.time(suite), Shrink: 1}
	for round := range s.rounds(c) {
		for i := range c.Rivals {
			rival := c.Rivals[i].Name
			progress.next(suite, c, rival, round)
			sample, err := request{suite.Name, c.Name, rival, config}.take(ctx, c.MemoryLimit, s.Stderr)
			if err != nil {
				return err
			}
			run.Add(suite.Name, c.Name, rival, sample)
		}
	}
	return nil
}

// rounds is how many samples of each rival are taken in a case.
func (s *Session) rounds(c *Case) int {
	if c.MostRounds > 0 {
		return min(s.Count, c.MostRounds)
	}
	return s.Count
}

func (s *Session) time(suite *Suite) time.Duration {
	switch {
	case s.Time > 0:
		return s.Time
	case s.Full:
		return suite.FullTime
	}
	return suite.Time
}

// Estimate returns about how long the session takes.
func (s *Session) Estimate() (total time.Duration) {
	for i := range s.Suites {
		for j := range s.Suites[i].Cases {
			c := &s.Suites[i].Cases[j]
			total += s.cost(&s.Suites[i], c) * time.Duration(s.rounds(c)*len(c.Rivals))
		}
	}
	return total
}

// cost is about how long one sample takes: a suite of fixed amounts of work has
// no time.
func (s *Session) cost(suite *Suite, c *Case) time.Duration {
	if suite.Time == 0 {
		return c.Setup
	}
	return s.time(suite)*5/4 + c.Setup
}
