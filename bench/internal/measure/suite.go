package measure

import "time"

// Suite is a set of cases that answer one question.
type Suite struct {
	Name  string // for -suite, and the first part of every name in the results
	Title string // heads the tables and the charts
	About string // one or two sentences that introduce the suite

	Time     time.Duration // how long the clock of one sample runs
	FullTime time.Duration // the same, with -full

	// Columns are what the tables show; the ratio to ours is that of the first.
	Columns []Column
	Charts  []Chart
	Cases   []Case

	// OnRequest leaves the suite out of runs that do not name it: it takes long, or
	// needs more than this module.
	OnRequest bool

	// Promises, if not nil, are shown beside the times.
	Promises []Promise
}

// Promise is what a rival promises, beside what it costs.
type Promise struct {
	Rival    string
	Is       string
	Passes   string // may a reader hand the object to another thread or goroutine?
	Prompt   string // is an old object given back soon after its last reader?
	Recycled string // is its memory used for the next object?
	Waits    string // does a reader ever wait?
}

// PromiseHead heads what Cells returns.
func PromiseHead() []string {
	return []string{"what it is", "may pass to another thread", "freed promptly", "recycled", "a reader waits"}
}

// Cells returns the promise as the cells of a table.
func (p *Promise) Cells() []string { return []string{p.Is, p.Passes, p.Prompt, p.Recycled, p.Waits} }

// FindPromise returns the promise of the rival of that name, and nil if there
// is none.
func (s *Suite) FindPromise(rival string) *Promise {
	for i := range s.Promises {
		if s.Promises[i].Rival == rival {
			return &s.Promises[i]
		}
	}
	return nil
}

// Column is one figure of each row of a table.
type Column struct {
	Unit  string // as in Sample.Values
	Title string
}

// Case is one situation in which rivals are compared. All of them run in one
// process, in turns, unless each is to have its own.
type Case struct {
	Name   string // key=value pairs with slashes in between
	Ours   string // the rival that ratios refer to
	Base   string // the rival that published ratios refer to; Ours if empty
	Rivals []Rival

	// MemoryLimit, if not empty, is the GOMEMLIMIT of the process.
	MemoryLimit string

	// OwnProcess gives each sample a process of its own, where one process for all
	// would show what an earlier sample has left: the memory of the process, or its
	// GOMAXPROCS.
	OwnProcess bool

	// Setup is about how long a sample takes beyond its clock, or altogether
	// where it is Untimed: not a run for some time but a fixed amount of work.
	// Only the display of the progress uses the two.
	Setup   time.Duration
	Untimed bool

	// MostRounds bounds the samples of each rival where a sample takes very long;
	// 0 leaves them to the session.
	MostRounds int
}

// Rival is one way to do what a case asks for.
type Rival struct {
	Name string

	// Sample sets up, warms up, measures once and cleans up.
	Sample func(Config) (Sample, error)

	// Published are the values by unit that others have published for this
	// rival and case, of another machine; nil if there are none.
	Published map[string]float64
}

// Config are the settings of one sample.
type Config struct {
	Time   time.Duration // how long the clock runs, in cases that run for a time
	Shrink int           // divides every size; 1, but in tests
}

// Size returns the size to use where n is the size of a real run.
func (c Config) Size(n int) int { return max(1, n/max(1, c.Shrink)) }

// Sample is the outcome of one measurement.
type Sample struct {
	Iterations int                `json:"iterations"`
	Values     map[string]float64 `json:"values"` // by unit
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
