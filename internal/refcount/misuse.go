package poolswap

import (
	"fmt"
	"unsafe"
)

// panicMisuse panics with the operation, the type, what is wrong and the
// counts: of a Table "that is in the pool".
func (r *Ref) panicMisuse(op, problem string) {
	counters := r.counters.Load()
	released := counters.Released()
	acquired := counters.Acquired()
	panic(fmt.Sprintf("poolswap: %s of a %s %s [acquired %d times, released %d times]",
		op, r.pool.typeName, problem, acquired, released))
}

// checkOwn panics unless ref, which has counters, is an object of this pool,
// and no copy of one.
func (p *recycler) checkOwn(ref *Ref, op string) {
	if phaseOf(ref.counters.Load().State.Load()) == unborn { // then the fields of ref are another goroutine's
		panic(fmt.Sprintf("poolswap: %s of a %s that another goroutine is publishing", op, p.typeName))
	}
	if ref.self != uintptr(unsafe.Pointer(ref)) {
		panic(fmt.Sprintf("poolswap: %s of a copy of a %s (the value was copied after its first use; use the pointer that Get or Acquire returned)", op, p.typeName))
	}
	if ref.pool != p {
		ref.panicMisuse(op, "of another pool (a container takes and gives back objects of the pool that it was made with)")
	}
}

// refuse panics for an object that update was given and cannot publish.
func (s *slot) refuse(ref *Ref) {
	const op = "Update"
	switch phaseOf(ref.counters.Load().State.Load()) {
	case live:
		if s.current.Load() == ref {
			ref.panicMisuse(op, "that is current already (updated twice?)")
		}
		ref.panicMisuse(op, "that is current in another container, or being published by another goroutine")
	case retiring, retired:
		ref.panicMisuse(op, "that was replaced and is still held by readers (get a new one from the pool)")
	case free:
		ref.panicMisuse(op, "that is in the pool (released before the update?)")
	case lost:
		ref.panicMisuse(op, "that the pool gave up after misuse, a panic in a hook, or a failed fence")
	default:
		ref.panicMisuse(op, "that another goroutine is publishing or giving back")
	}
}

func panicUnpublished(op, typeName string) {
	panic(fmt.Sprintf("poolswap: %s of a %s that was never published (a literal? only Get, Acquire and Update make an object the pool's)", op, typeName))
}

// panicNotMade panics for a Container or a Pool that no constructor made.
func panicNotMade(op, typeName, constructor string, copied bool) {
	if copied {
		panic(fmt.Sprintf("poolswap: %s of a copy of a %s (use the pointer that %s returned)", op, typeName, constructor))
	}
	panic(fmt.Sprintf("poolswap: %s of a zero %s (make it with %s)", op, typeName, constructor))
}
