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
					if isStored(use, part) && !isReplaced(use) && fn.leaves(use, flow) {
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
							fn.report(posOf(use), "%s is kept beyond %s%s", slabString, bodyOf(lender), cloneIt)
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

// leaves reports whether a store in the body of a loop is seen when the object of the flow
// was released: in a variable of the function that it returns, or uses then, or elsewhere.
func (fn *function) leaves(in ssa.Instruction, flow *refs.Flow) bool {
	variable := variableOf(in)
	if variable == nil {
		return true
	}
	for _, use := range *variable.Referrers() {
		load, ok := use.(*ssa.UnOp)
		if !ok {
			continue
		}
		for _, read := range *load.Referrers() {
			if refs.Returns(read, load) || slices.ContainsFunc(flow.Releases, func(end ssa.Instruction) bool { return ends(end) && refs.Dominates(end, read) }) {
				return true
			}
		}
	}
	return false
}

// variableOf returns the variable of the function around in which the instruction of a
// literal stores, or nil.
func variableOf(in ssa.Instruction) *ssa.Alloc {
	var to ssa.Value
	switch in := in.(type) {
	case *ssa.MapUpdate:
		if load, ok := in.Map.(*ssa.UnOp); ok {
			to = load.X
		}
	case *ssa.Store:
		to = in.Addr
		if call := refs.Appended(in); call != nil {
			for _, use := range *call.Referrers() {
				if store, ok := use.(*ssa.Store); ok {
					to = store.Addr
				}
			}
		}
	}
	free, ok := to.(*ssa.FreeVar)
	if !ok {
		return nil
	}
	for _, use := range *free.Parent().Referrers() {
		if made, ok := use.(*ssa.MakeClosure); ok {
			variable, _ := made.Bindings[slices.Index(free.Parent().FreeVars, free)].(*ssa.Alloc)
			return variable
		}
	}
	return nil
}

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
