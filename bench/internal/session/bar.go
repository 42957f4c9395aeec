package session

import (
	"fmt"
	"io"
	"time"

	"github.com/schollz/progressbar/v3"

	"github.com/poolswap/poolswap/bench/internal/measure"
)

// Bar is a Progress that draws a bar on a terminal. It counts time, as samples
// take very different times.
type Bar struct {
	session *Session
	bar     *progressbar.ProgressBar
	taking  time.Duration // of the sample under way
}

// NewBar returns a Bar for a session.
func NewBar(s *Session, terminal io.Writer) *Bar {
	return &Bar{session: s, bar: progressbar.NewOptions64(
		max(1, s.Estimate().Milliseconds()),
		progressbar.OptionSetWriter(terminal),
		progressbar.OptionSetWidth(20),
		progressbar.OptionSetPredictTime(true),
		progressbar.OptionSetElapsedTime(true),
		progressbar.OptionThrottle(0),
		progressbar.OptionClearOnFinish(),
	)}
}

// Next draws the name of the next sample and how much is left.
func (b *Bar) Next(s *measure.Suite, c *measure.Case, r *measure.Rival, round int) {
	b.bar.Describe(fmt.Sprintf("%s %s %s %d/%d", s.Name, c.Name, r.Name, round+1, b.session.Count))
	_ = b.bar.Add64(b.taking.Milliseconds())
	b.taking = b.session.cost(s, c)
}

// Hide takes the bar away until the next sample.
func (b *Bar) Hide() { _ = b.bar.Clear() }

// Done takes the bar away.
func (b *Bar) Done() { _ = b.bar.Finish() }
