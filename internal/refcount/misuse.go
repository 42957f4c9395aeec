package refcount

import (
	"context"
	"fmt"
	"unsafe"

	"github.com/poolswap/poolswap/internal/seam"
)

// panicMisuse panics with the operation, the type, the problem ("that is in the
// pool") and the counts of the object.
func (o *Object) panicMisuse(op, problem string) {
	counters := o.counters.Load()
	generation := generationOf(counters.State.Load())
	released := counters.Released()
	e := &OverReleaseError{o.pool.TypeName, uintptr(unsafe.Pointer(o)), generation, counters.Acquired(), released, nil}
	panic(fmt.Sprintf("poolswap: %s of a %s %s %s", op, e.Type, problem, e.known()))
}

// checkOwn panics unless obj, which has counters, is an object of this pool,
// and no copy of one.
func (p *Pool) checkOwn(obj *Object, op string) {
	if phaseOf(obj.counters.Load().State.Load()) == unborn { // another goroutine writes the fields
		panic(fmt.Sprintf("poolswap: %s of a %s that another goroutine is publishing", op, p.TypeName))
	}
	if obj.self != uintptr(unsafe.Pointer(obj)) {
		panic(fmt.Sprintf("poolswap: %s of a copy of a %s (the value was copied after its first use; use the pointer that Get or Acquire returned)", op, p.TypeName))
	}
	if obj.pool != p {
		obj.panicMisuse(op, "of another pool (a container takes and gives back objects of the pool that it was made with)")
	}
}

// checkNotReleased panics for an object that no caller can hold.
func (o *Object) checkNotReleased(op string) {
	switch phaseOf(o.counters.Load().State.Load()) {
	case free:
		o.panicMisuse(op, "that is in the pool (released before "+op+"?)")
	case discarded:
		o.panicMisuse(op, "that the pool has discarded (released before "+op+"?)")
	}
}

// refuse panics for an object that op was given and cannot publish.
func (s *Slot) refuse(obj *Object, op string) {
	switch phaseOf(obj.counters.Load().State.Load()) {
	case live:
		if s.current.Load() == obj {
			obj.panicMisuse(op, "that is current already (updated twice?)")
		}
		obj.panicMisuse(op, "that is current in another container, or being published by another goroutine")
	case retiring, retired:
		obj.panicMisuse(op, "that was replaced and is still held by readers (get a new one from the pool)")
	case free:
		obj.panicMisuse(op, "that is in the pool (released before the update?)")
	case lost:
		obj.panicMisuse(op, "that the pool gave up after misuse, a panic in reset, or a failed fence")
	default:
		obj.panicMisuse(op, "that another goroutine is publishing or giving back")
	}
}

func panicUnpublished(op, typeName string) {
	panic(fmt.Sprintf("poolswap: %s of a %s that was never published (a literal? only Get, Acquire and Update make an object the pool's), or whose Ref was overwritten (by *t = T{…}?)", op, typeName))
}

// panicOverwritten panics for a current object without counters.
func (p *Pool) panicOverwritten(op string) {
	panic(fmt.Sprintf("poolswap: %s found that the Ref of the current %s was overwritten (by *t = T{…} after the Update? fill an object before it is published, and assign to the other fields)", op, p.TypeName))
}

// panicOverwrittenBefore panics for an object that is the caller's and whose Ref
// was overwritten.
func (p *Pool) panicOverwrittenBefore(op string) {
	panic(fmt.Sprintf("poolswap: %s of a %s whose Ref was overwritten after the pool had handed it out (by *t = T{…}? assign to the other fields)", op, p.TypeName))
}

// checkContext panics if ctx is nil.
func checkContext(ctx context.Context, op string) {
	if ctx == nil {
		panic("poolswap: " + op + " with a nil Context")
	}
}

// panicNotMade panics for a Container or a Pool that no constructor made.
func panicNotMade(op, typeName, constructor string, copied bool) {
	if copied {
		panic(fmt.Sprintf("poolswap: %s of a copy of a %s (use the pointer that %s returned)", op, typeName, constructor))
	}
	panic(fmt.Sprintf("poolswap: %s of a zero %s (make it with %s)", op, typeName, constructor))
}

// OverReleaseError describes an object that was released more often than it
// was acquired. The caller that finds it is seldom the one that did it.
type OverReleaseError struct {
	Type       string  // of the user's object
	Object     uintptr // its address, which later generations have too
	Generation uint64  // how often the object had left the pool before
	Acquired   uint64  // in all generations
	Released   uint64
	Suspects   []Holder // of a traced version
}

// Error names the misuse, for a panic too.
func (e *OverReleaseError) Error() string {
	text := fmt.Sprintf("poolswap: Release of a %s more often than it was acquired: %d too many (released twice, released after Update, or Release of a Reader's object?) %s",
		e.Type, e.Released-e.Acquired, e.known())
	return text + List("; released here without a reference of that goroutine", e.Suspects)
}

// known lists the identity of an object and its counts.
func (e *OverReleaseError) known() string {
	return fmt.Sprintf("[object %#x, generation %d, acquired %d times, released %d times]", e.Object, e.Generation, e.Acquired, e.Released)
}

// excess describes an over-release found in the generation of state.
func (o *Object) excess(state, acquired, released uint64) *OverReleaseError {
	return &OverReleaseError{o.pool.TypeName, uintptr(unsafe.Pointer(o)), generationOf(state), acquired, released, nil}
}

// overReleasedByReader is for a reader that found an over-release. It panics
// without Reports. A reader never runs a function of the user: a goroutine of its
// own reports.
func (p *Pool) overReleasedByReader(e OverReleaseError) {
	if p.Reports == nil {
		panic(e.Error())
	}
	seam.Go(func() { p.Reports.OverRelease(e) })
}

// fenceFailed reports that an object was given up because membarrier failed.
func (p *Pool) fenceFailed(err error) {
	if p.Reports != nil {
		p.Reports.FenceFailed(fmt.Errorf("poolswap: membarrier failed: a %s is left to the garbage collector and new objects have portable counters: %w", p.TypeName, err))
	}
}

// Check panics for a Pool that Init did not make, such as a copy.
func (p *Pool) Check(op string) {
	if p.self != p {
		panicNotMade(op, "Pool", "NewPool", p.self != nil)
	}
}

// Check panics for a container that no constructor made, such as a copy.
func (s *Slot) Check(op string) {
	if s.self != s {
		panicNotMade(op, "Container", "NewContainer or NewEmptyContainer", s.self != nil)
	}
}
