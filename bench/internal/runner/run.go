package runner

// Run is all that a run has measured.
type Run struct {
	Machine Machine
	Started string  // RFC 3339
	Command string  // with the flags on which the measurements depend
	Others  float64 // share of the processors' time that others had, or -1
	Partial bool    // the run was interrupted or failed
	Series  []*Series
}

// Series are the samples of one rival in one case: each unit has as many values
// as there were samples.
type Series struct {
	Suite, Case, Rival string
	Iterations         []int
	Values             map[string][]float64
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

// Values returns the values of a series in a unit.
func (r *Run) Values(suite, c, rival, unit string) []float64 {
	return r.Find(suite, c, rival).Values[unit]
}

// Add adds a sample to the series of that name.
func (r *Run) Add(suite, c, rival string, sample Sample) {
	s := r.Find(suite, c, rival)
	if s.Values == nil {
		s = &Series{Suite: suite, Case: c, Rival: rival, Values: make(map[string][]float64)}
		r.Series = append(r.Series, s)
	}
	s.Iterations = append(s.Iterations, sample.Iterations)
	for unit, value := range sample.Values {
		s.Values[unit] = append(s.Values[unit], value)
	}
}
