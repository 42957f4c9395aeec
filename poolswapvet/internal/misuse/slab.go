package misuse

import (
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/poolswap/poolswap/poolswapvet/internal/refs"
)

// SlabEscape reports a string of a slab that is used, or returned, when its object is
// released.
var SlabEscape = analyzer("slabescape",
	"report a string of a slab in an object that is returned, stored or used when the object was released: it is valid until then (strings.Clone keeps it)",
	func(fn *function) {
		for _, flow := range fn.released(refs.Release) {
			for _, part := range refs.SlabStrings(flow) {
				if fn.partUses(flow, part, slabString, cloneIt); part.Parent() == fn.f || len(flow.Releases)+len(flow.Defers) == 0 {
					continue
				}
				for _, use := range *part.Referrers() { // in the body of a loop
					if isStored(use, part) && !isReplaced(use) {
						fn.report(posOf(use), "%s is kept beyond the Release of its object%s", slabString, cloneIt)
					}
				}
			}
		}
		for load, reader := range fn.called(refs.Load) {
			if object, ok := load.(*ssa.Call); ok && refs.Source(reader) != nil {
				flow := fn.loaded(object, refs.Source(reader))
				for _, part := range refs.SlabStrings(flow) {
					fn.partUses(flow, part, slabString, cloneIt)
				}
			}
		}
		for literal, lender := range fn.lent {
			for _, parameter := range literal.Params {
				if !isPointer(parameter) {
					continue
				}
				for _, part := range refs.SlabStrings(fn.program.Follow(parameter)) {
					for _, use := range *part.Referrers() {
						if isStored(use, part) && !isReplaced(use) {
							fn.report(posOf(use), "%s is kept beyond the function of %s%s", slabString, lender, cloneIt)
						}
					}
				}
			}
		}
	})

const (
	slabString = "a string of a slab"
	cloneIt    = " (strings.Clone keeps it)"
)

// isReplaced reports whether a store to a variable is followed by another: the variable
// may have a clone then.
func isReplaced(in ssa.Instruction) bool {
	store, ok := in.(*ssa.Store)
	if !ok {
		return false
	}
	variable, ok := store.Addr.(*ssa.FreeVar)
	return ok && slices.ContainsFunc(*variable.Referrers(), func(in ssa.Instruction) bool {
		again, ok := in.(*ssa.Store)
		return ok && again != store && refs.Dominates(store, again)
	})
}
