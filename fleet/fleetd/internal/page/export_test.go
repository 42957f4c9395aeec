package page

import (
	"context"
	"crypto/sha256"
)

var SafePath = safePath

const (
	MaxBody            = maxBody
	MaxLogin           = maxLogin
	MaxSessions        = maxSessions
	MaxStreamsOfAToken = maxStreamsOfToken
	SessionTime        = sessionTime
)

// Sessions are sessions that stand alone.
type Sessions struct{ s sessions }

func NewSessions(ctx context.Context) *Sessions {
	return &Sessions{sessions{ctx: ctx, all: map[[sha256.Size]byte]*session{}, streams: map[string]int{}}}
}

func (s *Sessions) Begin(token string) string { return s.s.begin("text", token) }

// Known reports whether a cookie is one of a session.
func (s *Sessions) Known(cookie string) bool { return s.s.find(cookie) != nil }

// Len returns the number of sessions that are remembered.
func (s *Sessions) Len() int { return len(s.s.all) }

// Streams returns the number of streams.
func (p *Page) Streams() int {
	p.sessions.mu.Lock()
	defer p.sessions.mu.Unlock()
	return p.sessions.streams[""]
}
