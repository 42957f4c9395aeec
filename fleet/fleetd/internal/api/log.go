package api

import (
	"log/slog"
	"net"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"
)

// Refused requests are logged so often at most: refusalBurst, then one each
// refusalEvery. So are those that failed.
const (
	refusalBurst = 20
	refusalEvery = time.Second
)

// refusals bounds the log of refused requests, or of those that failed.
type refusals struct {
	*rate.Limiter
	skipped atomic.Int64 // since the last line
}

// logFew logs a request, but not each of a flood, and never a secret.
func (s *Server) logFew(few *refusals, level slog.Level, message string, q *request, more ...any) {
	if !few.Allow() {
		few.skipped.Add(1)
		return
	}
	attributes := append(append(q.attributes(), slog.String("request", q.route.label())), more...)
	if skipped := few.skipped.Swap(0); skipped > 0 {
		attributes = append(attributes, slog.Int64("not_logged", skipped))
	}
	s.options.Logger.Log(q.Context(), level, "fleetd: "+message, attributes...)
}

// attributes returns who sent a request, for the log, whose handler quotes.
func (q *request) attributes() []any {
	host, _, err := net.SplitHostPort(q.RemoteAddr)
	if err != nil {
		host = q.RemoteAddr
	}
	all := []any{slog.String("address", host)}
	if q.token.ID != "" {
		all = append(all, slog.String("token", q.token.ID), slog.String("by", q.token.Name))
	}
	if q.name != "" {
		all = append(all, slog.String("name", q.name))
	}
	return all
}

// log logs a change that a request has made.
func (s *Server) log(q *request, message string, attributes ...any) {
	s.options.Logger.Info("fleetd: "+message, append(q.attributes(), attributes...)...)
}

// bounded returns the first bytes of a text of others.
func bounded(text string, most int) string {
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "…"
	}
	return text
}
