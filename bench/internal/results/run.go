// Package results holds what a run has measured, and writes and reads it: as
// JSON, and in the text format of Go benchmarks, which benchstat reads.
package results

import "strings"

// Run is all that a run has measured.
type Run struct {
	Machine Machine   `json:"machine"`
	Started string    `json:"started"` // RFC 3339
	Command string    `json:"command"`
	Others  float64   `json:"others"`            // share of the processors' time that others had, or -1
	Partial bool      `json:"partial,omitempty"` // the run was interrupted or failed
	Series  []*Series `json:"series"`
}

// Machine is where a run took place.
type Machine struct {
	CPU      string `json:"cpu"`
	Model    string `json:"model,omitempty"` // tells processors of one name apart: family, model, stepping
	Cores    int    `json:"cores"`
	OS       string `json:"os"`
	Arch     string `json:"arch"`
	Go       string `json:"go"`
	Counting string `json:"counting"` // how poolswap counts there
}

// Name is the name of the processor, with what tells it from others of that name.
func (m *Machine) Name() string {
	if m.Model == "" {
		return m.CPU
	}
	return m.CPU + " (" + m.Model + ")"
}

// Slug is the name of the processor as the name of a folder.
func (m *Machine) Slug() string {
	words := strings.FieldsFunc(strings.ToLower(m.CPU+" "+m.Model), func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9')
	})
	return strings.Join(words, "-")
}

// Series is what one rival has shown in one case: each unit has as many values
// as there were samples.
type Series struct {
	Suite      string               `json:"suite"`
	Case       string               `json:"case"`
	Rival      string               `json:"rival"`
	Iterations []int                `json:"iterations"`
	Values     map[string][]float64 `json:"values"`
}

// Add adds one sample.
func (s *Series) Add(iterations int, values map[string]float64) {
	s.Iterations = append(s.Iterations, iterations)
	if s.Values == nil {
		s.Values = make(map[string][]float64, len(values))
	}
	for unit, value := range values {
		s.Values[unit] = append(s.Values[unit], value)
	}
}

// Find returns the series of that name, and an empty one if there is none.
func (r *Run) Find(suite, c, rival string) *Series {
	for _, s := range r.Series {
		if s.Suite == suite && s.Case == c && s.Rival == rival {
			return s
		}
	}
	return new(Series)
}

// Get is Find that adds the series if there is none.
func (r *Run) Get(suite, c, rival string) *Series {
	if s := r.Find(suite, c, rival); s.Suite != "" {
		return s
	}
	s := &Series{Suite: suite, Case: c, Rival: rival}
	r.Series = append(r.Series, s)
	return s
}
