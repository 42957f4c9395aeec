package reload

import (
	"bytes"
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"html/template"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/poolswap/poolswap"
)

//go:embed page.html
var pageText string

var page = template.Must(template.New("page").Funcs(template.FuncMap{
	"bytes":      bytesInWords,
	"cause":      causeOfFailure,
	"count":      count,
	"firstLine":  func(err error) string { line, _, _ := strings.Cut(err.Error(), "\n"); return line },
	"otherLines": func(err error) string { _, rest, _ := strings.Cut(err.Error(), "\n"); return rest },
	"outcome":    outcomeInWords,
	"span":       span,
	"stage":      stageInWords,
}).Parse(pageText))

// StatusPage returns a handler that serves the status of r: as JSON if the request
// asks for application/json in Accept or has the query format=json, and otherwise as
// a page for people, which loads nothing from elsewhere. Both say which revision is
// loaded, the last swaps and failures, and, with Options.Stats, how many references
// readers hold. They show no content, but errors may quote it: serve it where
// operators are.
func StatusPage(r *Reloader) http.Handler {
	if r == nil {
		panic("reload: StatusPage of a nil Reloader")
	}
	return r
}

// ServeHTTP serves the [StatusPage] of r.
func (r *Reloader) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	if request.Method != http.MethodGet && request.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "only GET and HEAD", http.StatusMethodNotAllowed)
		return
	}
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'")
	report := r.report()
	query, accept := request.URL.Query(), request.Header.Get("Accept")
	if query.Get("format") == "json" || strings.Contains(accept, "application/json") && !strings.Contains(accept, "text/html") {
		w.Header().Set("Content-Type", "application/json")
		encoder := json.NewEncoder(w)
		encoder.SetIndent("", "  ")
		encoder.Encode(report.json()) //nolint:errcheck // the client has gone
		return
	}
	report.Renews = query.Get("renew") != "no"
	var text bytes.Buffer
	if err := page.Execute(&text, report); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Write(text.Bytes()) //nolint:errcheck // the client has gone
}

// report has all that the page shows.
type report struct {
	Status
	Now    time.Time
	Renews bool    // the page, by itself
	Recent []Event // the newest first
	Stats  *poolswap.Stats
}

func (r *Reloader) report() *report {
	p := &report{Now: time.Now()}
	r.mu.Lock()
	p.Status, p.Recent = r.status, append([]Event{}, r.recent...)
	r.mu.Unlock()
	slices.Reverse(p.Recent)
	if r.options.Stats != nil {
		r.guard(context.Background(), "Stats", func() {
			stats := r.options.Stats()
			p.Stats = &stats
		})
	}
	return p
}

// FromCache reports whether a Cache had kept the loaded content.
func (p *report) FromCache() bool { return p.kept }

// Headline is the status in a sentence or two.
func (p *report) Headline() string {
	stays := fmt.Sprintf(" Version %d stays.", p.Version)
	if p.Version == 0 {
		stays = " Nothing is loaded."
	}
	switch {
	case p.Status.Stale != nil && !p.FromCache():
		return fmt.Sprintf("The content is from %s: an earlier source did not answer.", cmp.Or(p.ServedBy, p.Source))
	case p.Status.Stale != nil:
		return "The content is from the cache: the source could not be asked."
	case p.Failures > 0:
		return failureInWords(p.Err) + stays
	case p.Version == 0:
		return "Nothing is loaded yet."
	}
	return "The newest content is loaded."
}

// HeldInWords says how many old versions readers hold.
func (p *report) HeldInWords() string {
	switch s := p.Stats; s.Retired {
	case 0:
		return "Readers hold no old version."
	case 1:
		return "Readers hold one old version, for " + span(s.OldestRetired) + " by now."
	default:
		return fmt.Sprintf("Readers hold %d old versions, the oldest for %s by now.", s.Retired, span(s.OldestRetired))
	}
}

// json returns the report as programs read it.
func (p *report) json() any {
	all := struct {
		*statusJSON
		Recent []Event        `json:"recent"`
		Pool   map[string]any `json:"pool,omitempty"`
	}{p.Status.json(), p.Recent, nil}
	if s := p.Stats; s != nil {
		all.Pool = map[string]any{
			"live": s.Live, "current": s.Current, "retired": s.Retired, "spares": s.Spares, "held": s.Held,
			"oldest_retired_seconds": s.OldestRetired.Seconds(), "lost": s.Lost, "leaked": s.Leaked,
		}
	}
	return all
}

// moment is a time on the page.
type moment struct{ Then, Ago string }

// When returns how long ago a time was, or how far ahead it is.
func (p *report) When(then time.Time) moment {
	m := moment{Then: then.UTC().Format(time.RFC3339)}
	switch d := p.Now.Sub(then); {
	case d < -time.Second:
		m.Ago = "in " + span(-d)
	case d < time.Second:
		m.Ago = "now"
	default:
		m.Ago = span(d) + " ago"
	}
	return m
}
