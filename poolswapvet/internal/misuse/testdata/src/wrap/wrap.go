// Package wrap hides the library behind functions of its own.
package wrap

import "github.com/poolswap/poolswap"

type Table struct {
	poolswap.Ref
	Rows []int
	By   map[string]int
	Size int
}

type Tables struct {
	C *poolswap.Container[Table, *Table]
}

func (t *Tables) Current() *Table { return t.C.Acquire() }

func (t *Tables) Done(table *Table) { t.C.Release(table) }

func (t *Tables) DoneIf(table *Table, really bool) {
	if really {
		t.C.Release(table)
	}
}

func (t *Tables) Rows(table *Table) int { return len(table.Rows) }

var kept *Table

func Keep(table *Table) { kept = table }

// Runner waits where the analyzers do not see it.
type Runner struct{ done chan struct{} }

func (r *Runner) Step() { r.done <- struct{}{} }

func (r *Runner) Finish() { r.finish() }

func (r *Runner) finish() { <-r.done }
