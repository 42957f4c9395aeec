//go:build poolswapsched

package sched

// footprint is what one transition uses: a step, and what its thread does after
// that until it stops before the next. Two that do not clash can be taken in
// either order, and the same comes of it.
type footprint []access

// access is one use of a word, or of something else that transitions share and
// that has a number of its own.
type access struct {
	id  uint64
	use mode
}

type mode uint8

const (
	reads mode = iota
	writes
	adds // without looking: sums are the same in whatever order
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

// What is no word and shared all the same.

// going is where the thread is.
func going(t *thread) uint64 { return mix(uint64(t.id), 100) }

// pinning is which thread is pinned to processor c.
func pinning(c int) uint64 { return mix(uint64(c), 101) }

// buffer is the order of the stores of processor c.
func buffer(c int) uint64 { return mix(uint64(c), 102) }

// stores is whether stores of the thread wait in a buffer.
func stores(t *thread) uint64 { return mix(uint64(t.id), 103) }

// beginning is which threads have been started.
func beginning() uint64 { return mix(0, 104) }

// Reads says that the running thread reads something of the scenario's own,
// which has that number, since its last step.
func (w *World) Reads(id uint64) { w.uses.note(mix(id, 105), reads) }

// Writes is Reads for what the thread writes.
func (w *World) Writes(id uint64) { w.uses.note(mix(id, 105), writes) }

// Adds is Reads for what the thread adds to without reading it.
func (w *World) Adds(id uint64) { w.uses.note(mix(id, 105), adds) }
