package page

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/poolswap/poolswap/fleet"
)

const (
	streamPause = time.Second      // between two events of a stream
	streamAlive = 15 * time.Second // between two writes
	streamWrite = 15 * time.Second // how long a client may take one
)

// stream sends the parts of the page of a name that have changed, as server-sent
// events, until the client goes, the session ends or the page is closed. It looks each
// second: in a large fleet something changes all the time.
func (p *Page) stream(w http.ResponseWriter, r *http.Request, u *user) {
	name, filter := r.URL.Query().Get("name"), filterOf(r.URL.Query())
	if !p.sessions.enter(u.session.token) {
		w.Header().Set("Retry-After", "10")
		http.Error(w, "Too many pages follow at once. Close some.", http.StatusServiceUnavailable)
		return
	}
	defer p.sessions.leave(u.session.token)
	out := &eventWriter{w: w, control: http.NewResponseController(w), sent: map[string]string{}}
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no") // for a proxy
	ticker := time.NewTicker(streamPause)
	defer ticker.Stop()
	s := u.session
	for u != nil && u.may(fleet.ReaderRole, name) {
		if err := out.send(p.parts(u, name, filter)); err != nil {
			return
		}
		select {
		case <-r.Context().Done():
			return
		case <-s.ctx.Done():
		case <-ticker.C:
		}
		u = p.userOf(s)
	}
	if p.sessions.ctx.Err() == nil { // else a browser asks again
		out.event("end", "the session has ended") //nolint:errcheck // the client has gone
	}
}

// viewKey is a view that many may have alike.
type viewKey struct {
	filter
	may bool
}

// parts returns the parts of the page that follow.
func (p *Page) parts(u *user, name string, f filter) map[string]string {
	v := p.viewOf(u, name, f)
	key := viewKey{f, v.May}
	v.snapshot.mu.Lock()
	defer v.snapshot.mu.Unlock()
	if made := v.made[key]; made != nil {
		return made
	}
	v.Token = fleet.Token{} // others share the parts
	parts := map[string]string{}
	for _, part := range []string{"headline", "status", "steer", "replicas"} {
		var text bytes.Buffer
		if err := templates.ExecuteTemplate(&text, part, v); err != nil {
			fmt.Fprintf(&text, "%v", err)
		}
		parts[part] = text.String()
	}
	if v.made != nil && len(v.made) < maxMade {
		v.made[key] = parts
	}
	return parts
}

// eventWriter sends events.
type eventWriter struct {
	w       http.ResponseWriter
	control *http.ResponseController
	sent    map[string]string // the parts that the client has
	last    time.Time         // of a write
}

// send sends the parts that the client does not have. After a while without one it
// sends a comment, which keeps proxies from closing the connection.
func (e *eventWriter) send(parts map[string]string) error {
	news := map[string]string{}
	for name, text := range parts {
		if last, ok := e.sent[name]; !ok || last != text {
			news[name], e.sent[name] = text, text
		}
	}
	if len(news) == 0 {
		if time.Since(e.last) < streamAlive {
			return nil
		}
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
	e.last = time.Now()
	if err := e.control.SetWriteDeadline(e.last.Add(streamWrite)); err != nil {
		return err
	}
	if _, err := e.w.Write([]byte(text)); err != nil {
		return err
	}
	return e.control.Flush()
}
