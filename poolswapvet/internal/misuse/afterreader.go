package misuse

import (
	"go/types"

	"golang.org/x/tools/go/ssa"

	"github.com/poolswap/poolswap/poolswapvet/internal/refs"
)

// usesAfterReader reports the uses of an object of Load, and of parts of it, after the
// Reader went on to another, or was closed.
func (fn *function) usesAfterReader() {
	for load, reader := range fn.called(refs.Load) {
		object, ok := load.(*ssa.Call)
		if ok && refs.Source(reader) != nil {
			flow := fn.loaded(object, refs.Source(reader))
			for _, end := range flow.Releases {
				for _, use := range flow.Uses {
					if refs.Dominates(end, use) && !isKind(use, refs.Load) {
						fn.report(posOf(use), "an object of a Reader is used after %s in line %d", name(end.(ssa.CallInstruction)), fn.line(end.Pos()))
					}
				}
			}
			fn.partsAfter(flow, isContainer, func(t types.Type) string { return "a " + kindOf(t) + " out of an object" })
		}
	}
}

// loaded returns the flow of an object of Load. Its releases are the calls that end it.
func (fn *function) loaded(object *ssa.Call, reader ssa.Value) *refs.Flow {
	flow := fn.program.Follow(object)
	flow.Releases, flow.Defers = nil, nil
	for _, kind := range []refs.Kind{refs.CloseReader, refs.Load} {
		for end, of := range fn.called(kind) {
			if end == ssa.CallInstruction(object) || refs.Source(of) != reader {
				continue
			}
			switch end.(type) {
			case *ssa.Defer:
				flow.Defers = append(flow.Defers, end)
			case *ssa.Call:
				if refs.Dominates(object, end) {
					flow.Releases = append(flow.Releases, end)
				}
			}
		}
	}
	return flow
}
