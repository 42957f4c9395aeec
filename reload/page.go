package reload

import (
	"bytes"
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
	"ago":   ago,
	"bytes": bytesInWords,
	"round": func(d time.Duration) time.Duration { return d.Round(roundTo(d)) },
}).Parse(pageText))

// ServeHTTP serves the status: as JSON if the request asks for application/json
// in Accept or has the query format=json, and otherwise as a page for people,
// which loads nothing from elsewhere. Both say which revision is loaded, the last
// swaps and failures, and, with Options.Stats, what readers hold. They show no
// content, but errors may quote it: serve it where operators are.
func (r *Reloader) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	if request.Method != http.MethodGet && request.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "only GET and HEAD", http.StatusMethodNotAllowed)
		return
	}
	w.Header().Set("Cache-Control", "no-store")
	report := r.report()
	if request.URL.Query().Get("format") == "json" || strings.Contains(request.Header.Get("Accept"), "application/json") {
		w.Header().Set("Content-Type", "application/json")
		encoder := json.NewEncoder(w)
		encoder.SetIndent("", "  ")
		encoder.Encode(report.json()) //nolint:errcheck // the client has gone
		return
	}
	var text bytes.Buffer
	if err := page.Execute(&text, report); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'")
	w.Write(text.Bytes()) //nolint:errcheck // the client has gone
}

// report is what the page shows.
type report struct {
	Status
	Now    time.Time
	Recent []Event // the newest first
	Stats  *poolswap.Stats
}

func (r *Reloader) report() *report {
	p := &report{Now: time.Now()}
	r.mu.Lock()
	p.Status, p.Recent = r.status, slices.Clone(r.recent)
	r.mu.Unlock()
	slices.Reverse(p.Recent)
	if r.options.Stats != nil {
		stats := r.options.Stats()
		p.Stats = &stats
	}
	return p
}

// State is the status in a word, for the page's head.
func (p *report) State() string {
	switch {
	case p.Version == 0 && p.Failures > 0:
		return "failing"
	case p.Version == 0:
		return "empty"
	case p.Failures > 0 || p.Status.Stale != nil:
		return "stale"
	}
	return "fresh"
}

// Headline is the status in a sentence.
func (p *report) Headline() string {
	switch p.State() {
	case "failing":
		return "Nothing is loaded, and the last attempt failed."
	case "empty":
		return "Nothing is loaded yet."
	case "stale":
		if p.Refused != "" {
			return "The newest content was refused. What was good before stays."
		}
		return "The source cannot be read. What was good before stays."
	}
	return "The newest content is loaded."
}

// Held says in words what readers hold.
func (p *report) HeldInWords() string {
	s := p.Stats
	switch {
	case s.Retired == 0:
		return "Readers hold no old version."
	case s.Retired == 1:
		return fmt.Sprintf("Readers hold one old version, replaced %v ago.", s.OldestRetired.Round(roundTo(s.OldestRetired)))
	}
	return fmt.Sprintf("Readers hold %d old versions, the oldest replaced %v ago.", s.Retired, s.OldestRetired.Round(roundTo(s.OldestRetired)))
}

// json returns the report as programs read it: errors as text, durations in
// seconds, times in RFC 3339.
func (p *report) json() map[string]any {
	all := map[string]any{
		"source": p.Source, "state": p.State(), "revision": p.Revision, "version": p.Version, "size_bytes": p.Size,
		"fetch_seconds": p.Fetch.Seconds(), "load_seconds": p.Load.Seconds(), "age_seconds": p.Age().Seconds(),
		"failures": p.Failures, "refused": p.Refused, "attempts": p.Attempts, "swaps": p.Swaps,
	}
	for name, at := range map[string]time.Time{"loaded": p.Loaded, "modified": p.Modified, "checked": p.Checked, "failed": p.Failed, "next": p.Next} {
		if !at.IsZero() {
			all[name] = at
		}
	}
	for name, err := range map[string]error{"error": p.Err, "stale": p.Status.Stale} {
		if err != nil {
			all[name] = err.Error()
		}
	}
	if held := p.Held(); held != nil {
		all["held"] = held.Error()
	}
	recent := []map[string]any{}
	for _, e := range p.Recent {
		one := map[string]any{"outcome": e.Outcome, "at": e.At, "revision": e.Revision, "version": e.Version, "size_bytes": e.Size}
		if e.Err != nil {
			one["error"] = e.Err.Error()
		}
		recent = append(recent, one)
	}
	all["recent"] = recent
	if s := p.Stats; s != nil {
		all["pool"] = map[string]any{
			"live": s.Live, "current": s.Current, "retired": s.Retired, "spares": s.Spares, "held": s.Held,
			"oldest_retired_seconds": s.OldestRetired.Seconds(), "lost": s.Lost, "leaked": s.Leaked,
		}
	}
	return all
}

// ago returns how long ago a time was, as people say it.
func ago(now, then time.Time) string {
	d := now.Sub(then)
	if d < 0 {
		return "in " + d.Abs().Round(roundTo(d.Abs())).String()
	}
	return d.Round(roundTo(d)).String() + " ago"
}

// roundTo returns what is worth showing of a duration.
func roundTo(d time.Duration) time.Duration {
	switch {
	case d < 10*time.Millisecond:
		return 10 * time.Microsecond
	case d < 10*time.Second:
		return 10 * time.Millisecond
	}
	return time.Second
}

func bytesInWords(n int64) string {
	units := []string{"B", "KiB", "MiB", "GiB", "TiB"}
	value, unit := float64(n), 0
	for ; value >= 1024 && unit < len(units)-1; unit++ {
		value /= 1024
	}
	if unit == 0 {
		return fmt.Sprintf("%d B", n)
	}
	return fmt.Sprintf("%.1f %s", value, units[unit])
}
