package page

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/poolswap/poolswap/fleet"
)

const (
	maxStreams          = 64 // of all sessions
	maxStreamsOfSession = 8
	streamPause         = 200 * time.Millisecond // between two events of a stream
	streamRenew         = 10 * time.Second       // ages are renewed
	streamWrite         = 15 * time.Second       // how long a client may take an event
	streamRead          = 5 * time.Second        // how long reading a record may take
)

// stream sends the parts of the page of a name that have changed, as server-sent
// events, until the client goes, the session ends or the page is closed.
func (p *Page) stream(w http.ResponseWriter, r *http.Request, s *session) {
	name := r.URL.Query().Get("name")
	feed, err := p.feeds.join(name)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	defer p.feeds.leave(name, feed)
	if !s.streams.take(maxStreamsOfSession) {
		tooManyStreams(w)
		return
	}
	defer s.streams.give()
	if !p.feeds.streams.take(maxStreams) {
		tooManyStreams(w)
		return
	}
	defer p.feeds.streams.give()
	out := &eventWriter{w: w, control: http.NewResponseController(w), sent: map[string]string{}}
	// The deadlines of the server are for requests that end.
	if err := out.control.SetReadDeadline(time.Time{}); err != nil {
		http.Error(w, "This server cannot stream.", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no") // for a proxy
	renew := time.NewTicker(streamRenew)
	defer renew.Stop()
	for {
		status, err, changed := feed.latest()
		if status != nil || err != nil {
			if err := out.send(p.parts(r.Context(), feed, s, name, status, err)); err != nil {
				return
			}
		}
		select {
		case <-r.Context().Done():
		case <-s.ctx.Done():
		case <-changed:
		case <-renew.C:
		}
		if !pause(r.Context(), s, streamPause) {
			break
		}
	}
	if r.Context().Err() == nil && p.feeds.ctx.Err() == nil {
		out.event("end", "the session has ended") //nolint:errcheck // the client has gone
	}
}

// pause reports whether the stream goes on after it.
func pause(ctx context.Context, s *session, d time.Duration) bool {
	select {
	case <-ctx.Done():
	case <-s.ctx.Done():
	case <-time.After(d):
	}
	return ctx.Err() == nil && s.ctx.Err() == nil
}

func tooManyStreams(w http.ResponseWriter) {
	w.Header().Set("Retry-After", "10")
	http.Error(w, "Too many pages follow at once. Close some.", http.StatusServiceUnavailable)
}

// parts returns the parts of the page that follow.
func (p *Page) parts(ctx context.Context, f *feed, s *session, name string, status *fleet.Status, err error) map[string]string {
	ctx, cancel := context.WithTimeout(ctx, streamRead)
	defer cancel()
	v := &fleetView{Name: name, By: s.by, Now: time.Now(), Status: status}
	if status != nil && err == nil {
		v.record, err = f.recordOf(ctx, status)
	}
	parts := map[string]string{}
	v.fail(err)
	for _, part := range []string{"status", "steer", "record"} {
		if part != "status" && v.record == nil {
			continue // what is there stays
		}
		var text bytes.Buffer
		if err := templates.ExecuteTemplate(&text, part, v); err != nil {
			fmt.Fprintf(&text, "%v", err)
		}
		parts[part] = text.String()
	}
	return parts
}

// eventWriter sends events.
type eventWriter struct {
	w       http.ResponseWriter
	control *http.ResponseController
	sent    map[string]string // the parts that the client has
}

// send sends the parts that the client does not have, or a comment, which keeps
// proxies from closing the connection.
func (e *eventWriter) send(parts map[string]string) error {
	news := map[string]string{}
	for name, text := range parts {
		if e.sent[name] != text {
			news[name], e.sent[name] = text, text
		}
	}
	if len(news) == 0 {
		return e.write(": nothing new\n\n")
	}
	text, err := json.Marshal(news)
	if err != nil {
		return err
	}
	return e.event("parts", string(text))
}

func (e *eventWriter) event(name, line string) error {
	return e.write("event: " + name + "\ndata: " + line + "\n\n")
}

func (e *eventWriter) write(text string) error {
	if err := e.control.SetWriteDeadline(time.Now().Add(streamWrite)); err != nil {
		return err
	}
	if _, err := e.w.Write([]byte(text)); err != nil {
		return err
	}
	return e.control.Flush()
}

// bounded is a count that has a bound.
type bounded struct {
	mu    sync.Mutex
	count int
}

// take reports whether there is room below most, and takes it.
func (b *bounded) take(most int) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.count >= most {
		return false
	}
	b.count++
	return true
}

func (b *bounded) give() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.count--
}
