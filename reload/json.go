package reload

import (
	"encoding/json"
	"time"
)

// MarshalJSON returns s as JSON: durations in seconds, sizes in bytes, errors as
// text, times in RFC 3339. Unknown values are left out.
func (s Status) MarshalJSON() ([]byte, error) { return json.Marshal(s.json()) }

// MarshalJSON returns e as JSON, as [Status.MarshalJSON] does.
func (e Event) MarshalJSON() ([]byte, error) {
	return json.Marshal(eventJSON{
		Outcome: e.Outcome, At: e.At, Revision: e.Revision, Version: e.Version, SHA256: e.SHA256, Size: e.Size, Base: e.Base, DeltaError: textOf(e.DeltaErr),
		Fetch: e.Fetch.Seconds(), Load: e.Load.Seconds(), Stale: textOf(e.Stale), ServedBy: e.ServedBy, Error: textOf(e.Err),
		Repeats: e.Repeats,
	})
}

type statusJSON struct {
	Source        string    `json:"source"`
	State         State     `json:"state"`
	Revision      string    `json:"revision"`
	Version       uint64    `json:"version"`
	SHA256        string    `json:"sha256,omitempty"`
	Loaded        time.Time `json:"loaded,omitzero"`
	Modified      time.Time `json:"modified,omitzero"`
	Checked       time.Time `json:"checked,omitzero"`
	Age           float64   `json:"age_seconds"`
	Size          int64     `json:"size_bytes"`
	Fetch         float64   `json:"fetch_seconds"`
	Load          float64   `json:"load_seconds"`
	Stale         string    `json:"stale,omitempty"`
	ServedBy      string    `json:"served_by,omitempty"`
	Failures      int       `json:"failures"`
	Refused       string    `json:"refused,omitempty"`
	Error         string    `json:"last_error,omitempty"`
	Failed        time.Time `json:"last_failed,omitzero"`
	Held          string    `json:"held,omitempty"`
	Next          time.Time `json:"next,omitzero"`
	Attempts      uint64    `json:"attempts"`
	Swaps         uint64    `json:"swaps"`
	TotalFailures uint64    `json:"total_failures"`
	Deltas        uint64    `json:"deltas,omitempty"`
	DeltaError    string    `json:"last_delta_error,omitempty"`
}

func (s Status) json() *statusJSON {
	all := &statusJSON{
		Source: s.Source, State: s.State(), Revision: s.Revision, Version: s.Version, SHA256: s.SHA256,
		Loaded: s.Loaded, Modified: s.Modified, Checked: s.Checked, Age: s.Age().Seconds(),
		Size: s.Size, Fetch: s.Fetch.Seconds(), Load: s.Load.Seconds(), Stale: textOf(s.Stale), ServedBy: s.ServedBy,
		Failures: s.Failures, Refused: s.Refused, Error: textOf(s.Err), Failed: s.Failed, Next: s.Next,
		Attempts: s.Attempts, Swaps: s.Swaps, TotalFailures: s.TotalFailures,
		Deltas: s.Deltas, DeltaError: textOf(s.DeltaErr),
	}
	if held := s.Held(); held != nil {
		all.Held = held.Error()
	}
	return all
}

type eventJSON struct {
	Outcome  Outcome   `json:"outcome"`
	At       time.Time `json:"at"`
	Revision string    `json:"revision"`
	Version  uint64    `json:"version"`
	SHA256   string    `json:"sha256,omitempty"`
	Size     int64     `json:"size_bytes"`
	Fetch    float64   `json:"fetch_seconds"`
	Load     float64   `json:"load_seconds"`
	Stale    string    `json:"stale,omitempty"`
	ServedBy string    `json:"served_by,omitempty"`
	Error    string    `json:"error,omitempty"`
	Repeats  int       `json:"repeats,omitempty"`

	Base       string `json:"base,omitempty"`
	DeltaError string `json:"delta_error,omitempty"`
}

func textOf(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// inJSON returns t, or the zero time if JSON has no text for it: a file can be of the
// year 10000.
func inJSON(t time.Time) time.Time {
	if _, err := t.MarshalJSON(); err != nil {
		return time.Time{}
	}
	return t
}
