package runner

import (
	"fmt"
	"time"

	"github.com/schollz/progressbar/v3"
)

// progress shows how far a session has come: as a bar on a terminal, and as a
// line for each case in a log. It counts time, as samples take very different
// times.
type progress struct {
	session *Session
	bar     *progressbar.ProgressBar // nil for a log
	begun   *Case                    // the case of the last line
	left    time.Duration            // of all samples that have not begun
	taking  time.Duration            // of the sample under way
}

func newProgress(s *Session) *progress {
	p := &progress{session: s, left: s.Estimate()}
	if s.Terminal {
		p.bar = progressbar.NewOptions64(
			max(1, p.left.Milliseconds()),
			progressbar.OptionSetWriter(s.Stderr),
			progressbar.OptionSetWidth(20),
			progressbar.OptionSetPredictTime(true),
			progressbar.OptionSetElapsedTime(true),
			progressbar.OptionThrottle(0),
		)
	}
	return p
}

// next shows the next sample. It is called while nothing is measured.
func (p *progress) next(s *Suite, c *Case, rival string, round int) {
	switch {
	case p.bar != nil:
		p.bar.Describe(fmt.Sprintf("%s %s %s %d/%d", s.Name, c.Name, rival, round+1, p.session.Count))
		_ = p.bar.Add64(p.taking.Milliseconds())
	case c != p.begun:
		_, _ = fmt.Fprintf(p.session.Stderr, "bench: %s %s, about %v left\n", s.Name, c.Name, p.left.Round(time.Second))
	}
	p.begun, p.taking = c, p.session.cost(s, c)
	p.left -= p.taking
}

// hide takes the bar away until the next sample.
func (p *progress) hide() {
	if p.bar != nil {
		_ = p.bar.Clear()
	}
}
