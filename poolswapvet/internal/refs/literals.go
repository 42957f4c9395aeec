package refs

import (
	"slices"

	"golang.org/x/tools/go/ssa"
)

// literal notes what a function literal that shares a variable does with it.
func (p *Program) literal(f *Flow, variable ssa.Value, made *ssa.MakeClosure) {
	body := made.Fn.(*ssa.Function)
	shared := body.FreeVars[slices.Index(made.Bindings, variable)]
	inside := &Flow{Value: shared, aliases: map[ssa.Value]bool{}}
	for todo := p.variable(inside, shared); len(todo) > 0; todo = todo[1:] {
		inside.aliases[todo[0]] = true
		for _, use := range *todo[0].Referrers() {
			todo = append(todo, p.step(inside, todo[0], use)...)
		}
	}
	f.Merged = f.Merged || inside.Merged
	f.Retains = append(f.Retains, inside.Retains...)
	releases := len(inside.Releases)+len(inside.Defers) > 0
	sure := releases && inside.everywhere(body)
	leaves := inside.Escapes || inside.Returned
	for _, use := range *made.Referrers() {
		call, isCall := use.(ssa.CallInstruction)
		isCall = isCall && call.Common().Value == ssa.Value(made) // and not its argument
		_, isDefer := use.(*ssa.Defer)
		_, isGo := use.(*ssa.Go)
		switch {
		case isDebug(use):
		case sure && !leaves && Returns(use, made):
			_, direct := use.(*ssa.Return)
			f.closers = append(f.closers, made)
			f.Escapes = f.Escapes || !direct
		case isGo && sure && !leaves:
			f.Handed = append(f.Handed, use)
		case !releases && (isGo || isTimer(use) || Returns(use, made)):
			f.Uses = append(f.Uses, use)
			f.Escapes = true
		case isGo && releases && !leaves && !inside.Merged && f.moved != nil:
			f.runs(use, inside, body)
		case leaves || isGo || !isCall && releases:
			f.Escapes = true
		case isCall && releases:
			if isDefer {
				f.Defers = append(f.Defers, use)
				f.runs(use, inside, body)
			} else {
				f.Releases = append(f.Releases, use)
			}
			if f.Sure == nil {
				f.Sure = make(map[ssa.Instruction]bool)
			}
			f.Sure[use] = sure
		case isCall:
			f.Uses = append(f.Uses, use)
		default: // a literal that only looks at it, passed on
			f.Escapes = f.Escapes || !isArgument(use)
		}
	}
}

// isArgument reports whether the instruction is a call, which may keep its arguments no
// longer than it runs: a guess, but one that only makes reports fewer.
func isArgument(use ssa.Instruction) bool { _, ok := use.(*ssa.Call); return ok }

// isTimer reports whether the instruction starts a timer whose result is dropped.
func isTimer(use ssa.Instruction) bool {
	call, ok := use.(*ssa.Call)
	if !ok || len(*call.Referrers()) > 0 {
		return false
	}
	f := declared(&call.Call)
	return f != nil && f.FullName() == "time.AfterFunc"
}

// within is what a function literal does with the reference.
type within struct {
	flow *Flow
	body *ssa.Function
}

func (f *Flow) runs(in ssa.Instruction, inside *Flow, body *ssa.Function) {
	if f.literals == nil {
		f.literals = make(map[ssa.Instruction]within)
	}
	f.literals[in] = within{inside, body}
}

// givenBack reports whether one of the deferred literals gives the reference back. They run
// last to first, after a panic if it was one.
func (s *search) givenBack(known state, panics bool) bool {
	return slices.ContainsFunc(known.deferred, func(in ssa.Instruction) bool {
		known := known.clone()
		known.decided["recover()!=nil"] = panics
		return s.flow.Sure[in] || s.inLiteral(s.flow.literals[in], known, true) == nil
	})
}

// fresh returns the state in a loop's next turn: a literal has the object still if the
// variable that it shares is one of each turn.
func (s *search) fresh(known state) state {
	known.deferred = slices.DeleteFunc(slices.Clone(known.deferred), func(in ssa.Instruction) bool {
		shared := s.flow.literals[in].flow.Value.(*ssa.FreeVar)
		made := in.(*ssa.Defer).Call.Value.(*ssa.MakeClosure)
		variable, ok := made.Bindings[slices.Index(shared.Parent().FreeVars, shared)].(*ssa.Alloc)
		return !ok || !slices.Contains(s.path[1:], variable.Block())
	})
	return known
}

// inLiteral searches a literal as a part of the path. It gives up where a condition about
// what the literal shares is not known, if it is told so.
func (s *search) inLiteral(literal within, known state, givesUp bool) ssa.Instruction {
	inner := &search{flow: literal.flow, given: literal.flow.ends(), copies: s.copies, givesUp: givesUp}
	known.deferred = nil
	return inner.from(literal.body.Blocks[0], 0, known)
}

// isShared reports whether a value depends on a variable that a function literal shares.
func isShared(v ssa.Value, f *Flow, depth int) bool {
	if f.Is(v) || depth == 0 {
		return depth == 0
	}
	in, ok := v.(ssa.Instruction)
	if !ok {
		_, isFree := v.(*ssa.FreeVar)
		return isFree
	}
	return slices.ContainsFunc(in.Operands(nil), func(of *ssa.Value) bool { return *of != nil && isShared(*of, f, depth-1) })
}

// ends returns the calls after which the reference is given back.
func (f *Flow) ends() map[ssa.Instruction]bool {
	ends := map[ssa.Instruction]bool{}
	for _, all := range [][]ssa.Instruction{f.Releases, f.Defers, f.Handed} {
		for _, end := range all {
			if _, isLater := f.literals[end]; !isLater {
				ends[end] = true
			}
		}
	}
	return ends
}

// staysIn reports whether each use of a load of the variable comes in its block, before the
// variable is assigned to again.
func staysIn(load *ssa.UnOp) bool {
	for _, use := range *load.Referrers() {
		if isDebug(use) {
			continue
		}
		instructions := load.Block().Instrs
		from, to := slices.Index(instructions, ssa.Instruction(load)), slices.Index(instructions, use)
		if to < from || slices.ContainsFunc(instructions[from:to], func(in ssa.Instruction) bool {
			store, ok := in.(*ssa.Store)
			return ok && store.Addr == load.X
		}) {
			return false
		}
	}
	return true
}
