// Package session runs the suites: it plans the samples, takes them in child
// processes, one sample at a time, and shows how far it has come.
//
// A child measures and does nothing else. It takes one request at a time from
// its standard input and answers on its standard output, so the parent draws
// and writes only while nothing is measured.
package session

import "github.com/poolswap/poolswap/bench/internal/measure"

// request asks a child for one sample.
type request struct {
	Suite  string         `json:"suite"`
	Case   string         `json:"case"`
	Rival  string         `json:"rival"`
	Config measure.Config `json:"config"`
}

// answer is the answer of the child.
type answer struct {
	Sample measure.Sample `json:"sample"`
	Error  string         `json:"error,omitempty"`
}
