//go:build poolswapsched

package sched

// footprint is what one transition uses. A transition is a step and what its
// thread does until it stops before the next. Two footprints that do not clash
// lead to the same state in either order.
type footprint []access

// access is one use of a word, or of other shared state that has an ID.
type access struct {
	id  uint64
	use mode
}

type mode uint8

const (
	reads mode = iota
	writes
	adds // without reading: additions commute
)

// note adds a use.
func (f *footprint) note(id uint64, use mode) {
	one := access{id, use}
	for _, other := range *f {
		if one == other {
			return
		}
	}
	*f = append(*f, one)
}

// clashes reports whether the order of the two matters.
func (f *footprint) clashes(with footprint) bool {
	for _, mine := range *f {
		for _, theirs := range with {
			if mine.id == theirs.id && (mine.use != theirs.use || mine.use == writes) {
				return true
			}
		}
	}
	return false
}

// The functions below return IDs of shared state that is not a word.

// going is where the thread is.
func going(t *thread) uint64 { return mix(uint64(t.id), 100) }

// pinning is the thread pinned to processor c.
func pinning(c int) uint64 { return mix(uint64(c), 101) }

// buffer is the order of stores in the buffer of processor c.
func buffer(c int) uint64 { return mix(uint64(c), 102) }

// stores is whether a buffer holds stores of the thread.
func stores(t *thread) uint64 { return mix(uint64(t.id), 103) }

// plain is whether a plain increment of the counter waits in a buffer.
func plain(count *word) uint64 { return mix(count.id, 106) }

// beginning is the set of started threads.
func beginning() uint64 { return mix(0, 104) }

// Reads declares that the running thread has read the scenario's own state of
// that ID since its last step.
func (w *World) Reads(id uint64) { w.uses.note(mix(id, 105), reads) }

// Writes is Reads for state that the thread writes.
func (w *World) Writes(id uint64) { w.uses.note(mix(id, 105), writes) }

// Adds is Reads for state that the thread adds to without reading it.
func (w *World) Adds(id uint64) { w.uses.note(mix(id, 105), adds) }
