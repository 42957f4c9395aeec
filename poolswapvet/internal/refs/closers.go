package refs

import (
	"slices"

	"golang.org/x/tools/go/ssa"
)

// closer returns one more than the index of the result that gives back another result, or 0.
func (p *Program) closer(f *ssa.Function, result int) int {
	for _, block := range f.Blocks {
		last, ok := block.Instrs[len(block.Instrs)-1].(*ssa.Return)
		if !ok || isNil(last.Results[result]) {
			continue
		}
		for _, made := range p.Follow(sourceOr(last.Results[result])).closers {
			if i := slices.Index(last.Results, ssa.Value(made)); i >= 0 {
				return i + 1
			}
		}
	}
	return 0
}

// closed notes the calls of the function that came with the reference and gives it back.
func (p *Program) closed(f *Flow) {
	object, ok := f.Value.(*ssa.Extract)
	if !ok {
		return
	}
	call, ok := object.Tuple.(*ssa.Call)
	if !ok || declared(&call.Call) == nil {
		return
	}
	s, _ := p.summary(declared(&call.Call))
	for _, use := range *call.Referrers() {
		closer, ok := use.(*ssa.Extract)
		if !ok || s.Closer == 0 || closer.Index != s.Closer-1 || object.Index != s.Result-1 {
			continue
		}
		for _, use := range *closer.Referrers() {
			called, ok := use.(ssa.CallInstruction)
			_, isDefer := use.(*ssa.Defer)
			_, isCall := use.(*ssa.Call)
			switch ok = ok && called.Common().Value == ssa.Value(closer); {
			case isDebug(use):
			case ok && isDefer:
				f.Defers = append(f.Defers, use)
			case ok && isCall:
				f.Releases = append(f.Releases, use)
			default:
				f.Escapes = true
			}
		}
	}
}
