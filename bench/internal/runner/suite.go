// Package runner takes measurements: it defines suites, takes the samples of
// rivals in turns, each in a process that does nothing else, and keeps, writes
// and condenses them.
package runner

import "time"

// Suite is a set of cases that answer one question.
type Suite struct {
	Name  string // for -suite, and the first part of every name in the results
	Title string // heads the tables and the charts
	About string // one or two sentences that introduce the suite

	Time     time.Duration // how long the clock of one sample runs
	FullTime time.Duration // the same, with -full

	// Columns are those of the tables; the ratio to ours is that of the first.
	Columns []Column
	Charts  []Chart
	Cases   []Case

	// OnRequest leaves the suite out of runs that do not name it: it takes long, or
	// needs more than this module.
	OnRequest bool

	// Promises, if not nil, are shown beside the times: a head, and a row for each
	// rival, which begins with its name.
	Promises [][]string
}

// Column is one figure of each row of a table.
type Column struct{ Unit, Title string }

// Columns returns columns from pairs of unit and title.
func Columns(pairs ...string) (columns []Column) {
	for i := 0; i < len(pairs); i += 2 {
		columns = append(columns, Column{pairs[i], pairs[i+1]})
	}
	return columns
}

// Chart is a picture of a suite: the medians of all rivals at each point. Without
// an Axis it has bars.
type Chart struct {
	Title  string
	Axis   string // of the points of lines
	Log    bool   // the scale of lines is logarithmic
	Points []Point
}

// Point is a place in a chart.
type Point struct{ Label, Case, Unit string }

// Case is one situation in which rivals are compared, in turns.
type Case struct {
	Name   string // key=value pairs with slashes in between
	Ours   string // the rival that ratios refer to
	Rivals []Rival

	MemoryLimit string        // GOMEMLIMIT of the process, if not empty
	Setup       time.Duration // about how long a sample takes beyond its clock; for the progress
	MostRounds  int           // bounds the samples of each rival where one takes very long
}

// Rival is one way to do the work of a case.
type Rival struct {
	Name string

	// Sample sets up, warms up, measures once and cleans up.
	Sample func(Config) (Sample, error)

	// Published are values by unit that others have published for this rival and
	// case, of another machine.
	Published map[string]float64
}

// Config are the settings of one sample.
type Config struct {
	Time   time.Duration // how long the clock runs
	Shrink int           // divides every size; 1, but in tests
}

// Size returns the size to use where n is the size of a real run.
func (c Config) Size(n int) int { return max(1, n/max(1, c.Shrink)) }

// Sample is the outcome of one measurement.
type Sample struct {
	Iterations int
	Values     map[string]float64 // by unit
}

// Find returns the case of that name, and nil if there is none.
func (s *Suite) Find(name string) *Case {
	for i := range s.Cases {
		if s.Cases[i].Name == name {
			return &s.Cases[i]
		}
	}
	return nil
}

// Find returns the rival of that name, and nil if there is none.
func (c *Case) Find(name string) *Rival {
	for i := range c.Rivals {
		if c.Rivals[i].Name == name {
			return &c.Rivals[i]
		}
	}
	return nil
}
