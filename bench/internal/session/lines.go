package session

import (
	"fmt"
	"io"
	"time"

	"github.com/poolswap/poolswap/bench/internal/measure"
)

// Lines is a Progress for a log: it writes a line when a case begins.
type Lines struct {
	session *Session
	log     io.Writer
	begun   *measure.Case // the case of the last line
	left    time.Duration // of all samples that have not begun
}

// NewLines returns Lines for a session.
func NewLines(s *Session, log io.Writer) *Lines {
	return &Lines{session: s, log: log, left: s.Estimate()}
}

// Next writes the case, if it is a new one, and about how much time is left.
func (l *Lines) Next(s *measure.Suite, c *measure.Case, _ *measure.Rival, _ int) {
	if c != l.begun {
		l.begun = c
		_, _ = fmt.Fprintf(l.log, "bench: %s %s, about %v left\n", s.Name, c.Name, l.left.Round(time.Second))
	}
	l.left -= l.session.cost(s, c)
}

// Hide does nothing: a line stays.
func (l *Lines) Hide() {}

// Done does nothing.
func (l *Lines) Done() {}
