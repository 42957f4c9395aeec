// Package results holds what a run has measured, and writes and reads it: as
// JSON, and in the text format of Go benchmarks, which benchstat reads.
package results

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
	Cores    int    `json:"cores"`
	OS       string `json:"os"`
	Arch     string `json:"arch"`
	Go       string `json:"go"`
	Counting string `json:"counting"` // how poolswap counts there
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
