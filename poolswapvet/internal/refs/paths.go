package refs

import (
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"
)

// Lost returns where a path leads on which the reference is not given back, or nil: to a
// return of the function, in a loop to taken itself, or to where its variable gets another.
// Of two conditions that look the same it assumes that they are.
func (f *Flow) Lost(taken ssa.Instruction) ssa.Instruction {
	s := &search{flow: f, given: f.ends(), again: taken, copies: map[string]bool{}}
	known := newState()
	for _, end := range f.Defers {
		if _, ok := f.literals[end]; ok && !Dominates(taken, end) {
			known.deferred = append(known.deferred, end)
		}
	}
	block := taken.Block()
	if _, isJoined := taken.(*ssa.Phi); isJoined {
		s.again = nil
		at := 0
		for ; ; at++ {
			if _, ok := block.Instrs[at].(*ssa.Phi); !ok {
				return s.from(block, at, known)
			}
		}
	}
	at := 0
	for block.Instrs[at] != taken {
		at++
	}
	failure := f.failure(taken)
	switch {
	case failure == nil:
	case types.Identical(failure.Type().Underlying(), types.Typ[types.Bool]): // it is true if there is a reference
		known.decided[key(failure, f)] = true
	default:
		s.failure = key(failure, f)
		known.decided[s.failure+"!=nil"] = false
	}
	for b := block; len(b.Preds) == 1; b = b.Preds[0] { // the conditions under which it is taken
		if in, ok := b.Preds[0].Instrs[len(b.Preds[0].Instrs)-1].(*ssa.If); ok {
			known.assume(in.Cond, b.Preds[0].Succs[0] == b, f)
		}
	}
	return s.from(block, at+1, known)
}

// returnedBy reports whether the caller has the reference then, or a literal that gives it
// back.
func (f *Flow) returnedBy(in *ssa.Return) bool {
	return slices.ContainsFunc(in.Results, func(v ssa.Value) bool {
		made, ok := v.(*ssa.MakeClosure)
		return f.Is(v) || ok && slices.Contains(f.closers, made)
	})
}

// markReachable marks the blocks that follow, up to the one that takes the reference anew.
func markReachable(from, until *ssa.BasicBlock, marked map[*ssa.BasicBlock]bool) {
	for _, next := range from.Succs {
		if next != until && !marked[next] {
			marked[next] = true
			markReachable(next, until, marked)
		}
	}
}

// InLoop reports whether the block can run again without that of outside.
func InLoop(block, outside *ssa.BasicBlock) bool {
	inside := map[*ssa.BasicBlock]bool{}
	markReachable(block, outside, inside)
	return inside[block]
}

// failure returns the second result of a call which took the reference, or nil: an error,
// or a bool.
func (f *Flow) failure(taken ssa.Instruction) ssa.Value {
	if call, ok := taken.(*ssa.Call); ok && call.Call.Signature().Results().Len() == 2 {
		for _, use := range *call.Referrers() {
			e, ok := use.(*ssa.Extract)
			if !ok || e.Index != 1 {
				continue
			}
			if _, isFunction := e.Type().Underlying().(*types.Signature); !isFunction {
				return e
			}
		}
	}
	return nil
}

// Leads reports whether each path from a to a return runs through b, and not through the
// block of taken, if there is one.
func Leads(a, b ssa.Instruction, taken *ssa.BasicBlock) bool {
	seen := map[*ssa.BasicBlock]bool{b.Block(): true, taken: true}
	reached := false
	for todo := []*ssa.BasicBlock{a.Block()}; len(todo) > 0; todo = todo[1:] {
		for _, next := range todo[0].Succs {
			if next == taken {
				return false
			}
			reached = reached || next == b.Block()
			if !seen[next] {
				seen[next] = true
				todo = append(todo, next)
			}
		}
		if _, returns := todo[0].Instrs[len(todo[0].Instrs)-1].(*ssa.Return); returns {
			return false
		}
	}
	return reached
}

// Repeats reports whether a loop runs the instruction in each of its turns, and not the
// block of taken, if there is one.
func Repeats(in ssa.Instruction, taken *ssa.BasicBlock) bool {
	block := in.Block()
	inside := map[*ssa.BasicBlock]bool{}
	markReachable(block, taken, inside)
	if !inside[block] {
		return false
	}
	for head := range inside {
		turns, all := 0, true
		for _, latch := range head.Preds {
			if inside[latch] && head.Dominates(latch) {
				turns++
				all = all && block.Dominates(latch)
			}
		}
		if turns > 0 && all && head.Dominates(block) {
			return true
		}
	}
	return false
}

// Endless reports whether the block is in a loop that ends with the function alone, or when
// a channel is closed.
func Endless(block *ssa.BasicBlock) bool {
	inside := map[*ssa.BasicBlock]bool{}
	markReachable(block, nil, inside)
	if !inside[block] {
		return false
	}
	for b := range inside {
		back := map[*ssa.BasicBlock]bool{}
		if markReachable(b, nil, back); !back[block] {
			continue // behind the loop
		}
		for _, next := range b.Succs {
			forth := map[*ssa.BasicBlock]bool{}
			if markReachable(next, nil, forth); !forth[block] && next != block && !receives(b) {
				return false
			}
		}
	}
	return true
}

// receives reports whether the block ends when a channel is closed.
func receives(b *ssa.BasicBlock) bool {
	in, ok := b.Instrs[len(b.Instrs)-1].(*ssa.If)
	if !ok {
		return false
	}
	open, ok := in.Cond.(*ssa.Extract)
	if !ok {
		return false
	}
	receive, ok := open.Tuple.(*ssa.UnOp)
	return ok && receive.Op == token.ARROW
}
