package poolswap

import "fmt"

// Leak is told to Options.Report when the garbage collector took an object
// that was still counted as held: somebody forgot Release, or dropped a
// [Reader] without Close. The object is lost to recycling, nothing else.
type Leak struct {
	Type string // of the object
	Held int    // references that were never released
}

// Error says what was not released.
func (e *Leak) Error() string {
	return fmt.Sprintf("poolswap: a %s was dropped with %d references never released (a forgotten Release, or a Reader without Close?)", e.Type, e.Held)
}
