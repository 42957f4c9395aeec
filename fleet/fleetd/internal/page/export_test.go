package page

import (
	"context"
	"crypto/sha256"
	"time"
)

var (
	SafePath  = safePath
	AddressOf = addressOf
)

const (
	MaxBody             = maxBody
	MaxStreamsOfSession = maxStreamsOfSession
	MaxSessions         = maxSessions
	MaxThrottled        = maxThrottled
	SessionTime         = sessionTime
)

// Throttle is a throttle that stands alone.
type Throttle struct{ t throttle }

func NewThrottle() *Throttle { return &Throttle{throttle{all: map[string]attempts{}}} }

func (t *Throttle) Begin(address string) time.Duration { return t.t.begin(address) }
func (t *Throttle) Succeeded(address string)           { t.t.succeeded(address) }
func (t *Throttle) Len() int                           { return len(t.t.all) }

// Sessions are sessions that stand alone.
type Sessions struct{ s sessions }

func NewSessions(ctx context.Context) *Sessions {
	return &Sessions{sessions{ctx: ctx, all: map[[sha256.Size]byte]*session{}}}
}

func (s *Sessions) Begin(by string) string { return s.s.begin(by) }

// Known reports whether a token is that of a session.
func (s *Sessions) Known(token string) bool { return s.s.find(token) != nil }

// Ended tells later whether the streams of the session of a token end.
func (s *Sessions) Ended(token string) func() bool {
	one := s.s.find(token)
	return func() bool { return one.ctx.Err() != nil }
}

// Streams returns how many streams there are, and feeds.
func (p *Page) Streams() (streams, feeds int) {
	p.feeds.streams.mu.Lock()
	defer p.feeds.streams.mu.Unlock()
	p.feeds.mu.Lock()
	defer p.feeds.mu.Unlock()
	return p.feeds.streams.count, len(p.feeds.all)
}
