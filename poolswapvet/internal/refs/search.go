package refs

import (
	"go/token"
	"slices"

	"golang.org/x/tools/go/ssa"
)

// mostSteps bounds the search for a path; beyond it there is no report.
const mostSteps = 5000

type search struct {
	flow  *Flow
	given map[ssa.Instruction]bool
	again ssa.Instruction // that takes the reference: a path to it is a loss

	failure string          // the key of the error of taking it, or ""
	copies  map[string]bool // the keys of variables with it
	givesUp bool            // where a condition about what a literal shares is not known
	steps   int
	path    []*ssa.BasicBlock
}

// from searches on from an instruction of a block.
func (s *search) from(block *ssa.BasicBlock, at int, known state) ssa.Instruction {
	if s.steps++; s.steps > mostSteps {
		return nil
	}
	times := 0
	for _, b := range s.path {
		if b == block {
			times++
		}
	}
	if times > 1 { // a loop once more
		return nil
	}
	s.path = append(s.path, block)
	defer func() { s.path = s.path[:len(s.path)-1] }()
	for _, in := range block.Instrs[at:] {
		if s.given[in] {
			return nil
		}
		if in == s.again && !s.givenBack(s.fresh(known), false) {
			return in
		}
		switch in := in.(type) {
		case *ssa.Call:
			if in.Call.IsInvoke() && neverReturns(in.Call.Method) {
				return nil
			}
		case *ssa.Store:
			if s.flow.replaced[in] {
				return s.overwriting(in.Val)
			}
			s.stored(in, known)
		case *ssa.Defer:
			if _, ok := s.flow.literals[in]; ok {
				known.deferred = append(slices.Clip(known.deferred), in)
			}
		case *ssa.Go:
			if literal, ok := s.flow.literals[in]; ok {
				if len(s.flow.Releases)+len(s.flow.Defers) > 0 {
					return nil
				}
				return s.inLiteral(literal, known, false)
			}
		case *ssa.Return:
			if s.flow.returnedBy(in) || s.givenBack(known, false) {
				return nil
			}
			return in
		case *ssa.Panic:
			if recovers(in) && !s.givenBack(known, true) {
				return in
			}
		case *ssa.If:
			return s.branch(block, in, known)
		}
	}
	if len(block.Succs) == 1 {
		return s.enter(block, block.Succs[0], known)
	}
	return nil
}

// recovers reports whether a literal that the function has deferred by then recovers from
// the panic, and does not panic again.
func recovers(in *ssa.Panic) bool {
	for _, block := range in.Parent().Blocks {
		for _, before := range block.Instrs {
			deferred, ok := before.(*ssa.Defer)
			if !ok || !Dominates(deferred, in) {
				continue
			}
			if f := deferred.Call.StaticCallee(); f != nil && f.Parent() != nil && callsRecover(f) {
				return true
			}
		}
	}
	return false
}

// callsRecover reports whether the function calls recover, and always returns.
func callsRecover(f *ssa.Function) (found bool) {
	for _, block := range f.Blocks {
		if _, returns := block.Instrs[len(block.Instrs)-1].(*ssa.Return); len(block.Succs) == 0 && !returns {
			return false
		}
		for _, in := range block.Instrs {
			if call, ok := in.(*ssa.Call); ok {
				b, isBuiltin := call.Call.Value.(*ssa.Builtin)
				found = found || isBuiltin && b.Name() == "recover"
			}
		}
	}
	return found
}

// stored notes that a variable has another value, of which as much is known.
func (s *search) stored(in *ssa.Store, known state) {
	variable, value := "*"+key(in.Addr, s.flow), key(in.Val, s.flow)
	was := known.clone()
	known.forget(variable)
	known.set(variable, in.Val, was, s.flow)
	if value == s.failure && value != "" {
		s.copies[variable] = true
	} else {
		delete(s.copies, variable)
	}
}

func (s *search) enter(from, to *ssa.BasicBlock, known state) ssa.Instruction {
	entered := known.clone()
	for _, in := range to.Instrs {
		phi, ok := in.(*ssa.Phi)
		if !ok {
			break
		}
		edge := phi.Edges[slices.Index(to.Preds, from)]
		switch {
		case s.flow.moved[phi] && s.flow.Is(edge):
			return nil
		case ssa.Value(phi) != s.flow.Value:
		case s.flow.Is(edge):
			return nil
		default:
			return s.overwriting(edge)
		}
		name := key(phi, s.flow)
		entered.forget(name)
		entered.set(name, edge, known, s.flow)
	}
	return s.from(to, 0, entered)
}

// overwriting returns the instruction that made the value that takes the reference's place.
func (s *search) overwriting(v ssa.Value) ssa.Instruction {
	if in, ok := v.(ssa.Instruction); ok {
		return in
	}
	return s.flow.Value.(ssa.Instruction)
}

// branch searches on behind a condition.
func (s *search) branch(block *ssa.BasicBlock, in *ssa.If, known state) ssa.Instruction {
	for i, next := range block.Succs {
		if s.mayHaveFailed(in.Cond, i == 0) {
			continue
		}
		entered := known.clone()
		possible, decided := entered.assume(in.Cond, i == 0, s.flow)
		if !possible {
			continue
		}
		if s.givesUp && !decided && isShared(in.Cond, s.flow, 5) {
			return nil
		}
		if lost := s.enter(block, next, entered); lost != nil {
			return lost
		}
	}
	return nil
}

// mayHaveFailed reports whether a condition with that value may say that the reference was
// not taken: its error is another one, or a function that looks at it says so.
func (s *search) mayHaveFailed(cond ssa.Value, value bool) bool {
	if s.failure == "" {
		return false
	}
	isFailure := func(v ssa.Value) bool { return key(v, s.flow) == s.failure || s.copies[key(v, s.flow)] }
	switch cond := cond.(type) {
	case *ssa.UnOp:
		return cond.Op == token.NOT && s.mayHaveFailed(cond.X, !value)
	case *ssa.BinOp:
		return (cond.Op == token.EQL) == value && (isFailure(cond.X) && !isNil(cond.Y) || isFailure(cond.Y) && !isNil(cond.X))
	case *ssa.Call:
		f := declared(&cond.Call)
		known := f != nil && f.Pkg() != nil && (f.Pkg().Path() == "errors" || f.Pkg().Path() == "os")
		return slices.ContainsFunc(cond.Call.Args, isFailure) && (value || !known)
	}
	return false
}
