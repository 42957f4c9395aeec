package misuse

import (
	"go/types"

	"golang.org/x/tools/go/ssa"

	"github.com/poolswap/poolswap/poolswapvet/internal/refs"
)

// KeptCurrent reports an object that outlives the function to which it was lent.
var KeptCurrent = analyzer("keptcurrent",
	"report an object that WithAcquire, Publish or Versions lends to a function and that the function keeps, and a Reader's object that is released or kept",
	func(fn *function) {
		for call := range fn.called(refs.Lend) {
			for _, argument := range call.Common().Args {
				if made, ok := argument.(*ssa.MakeClosure); ok {
					fn.keeps(made.Fn.(*ssa.Function), name(call))
				} else if literal, ok := argument.(*ssa.Function); ok {
					fn.keeps(literal, name(call))
				}
			}
		}
		for in := range fn.instructions {
			load, ok := in.(*ssa.Call)
			if !ok || refs.KindOf(load.Common()) != refs.Load {
				continue
			}
			for _, use := range *load.Referrers() {
				if isKind(use, refs.Release) {
					fn.report(use.Pos(), "Release of an object that belongs to a Reader, which releases it itself")
				}
			}
		}
	})

// keeps reports where a function stores one of its parameters beyond its own life.
func (fn *function) keeps(literal *ssa.Function, lender string) {
	for _, parameter := range literal.Params {
		if _, isPointer := parameter.Type().Underlying().(*types.Pointer); !isPointer {
			continue
		}
		flow := fn.program.Follow(parameter)
		if flow.Retained {
			continue
		}
		for _, use := range *parameter.Referrers() {
			switch use := use.(type) {
			case *ssa.Store:
				if use.Val == ssa.Value(parameter) && outlives(use.Addr) {
					fn.report(use.Pos(), "the function of %s keeps its object, which is not held any more when it has returned (Retain it)", lender)
				}
			case *ssa.Send:
				fn.report(use.Pos(), "the function of %s sends its object away, which is not held any more when it has returned (Retain it)", lender)
			case *ssa.Call:
				if refs.KindOf(use.Common()) == refs.Release && use.Call.Args[1] == ssa.Value(parameter) {
					fn.report(use.Pos(), "the function of %s releases an object that it does not hold: %s does", lender, lender)
				}
			}
		}
	}
}

// outlives reports whether an address is of something that is there when the function has
// returned, and is read then.
func outlives(address ssa.Value) bool {
	switch address := address.(type) {
	case *ssa.Global:
		return true
	case *ssa.FreeVar:
		return isRead(address)
	case *ssa.FieldAddr:
		return outlivesBase(address.X)
	}
	return false
}

// outlivesBase reports whether the struct with a field is not one of the function itself.
func outlivesBase(v ssa.Value) bool {
	switch v := v.(type) {
	case *ssa.FreeVar, *ssa.Global, *ssa.Parameter:
		return true
	case *ssa.UnOp:
		return outlivesBase(v.X)
	case *ssa.FieldAddr:
		return outlivesBase(v.X)
	}
	return false
}

// isRead reports whether the function around uses the variable for more than a comparison
// with nil.
func isRead(v *ssa.FreeVar) bool {
	for _, use := range *v.Parent().Referrers() {
		made, ok := use.(*ssa.MakeClosure)
		if !ok {
			return false
		}
		for i, binding := range made.Bindings {
			variable, ok := binding.(*ssa.Alloc)
			if v.Parent().FreeVars[i] != v || !ok {
				continue
			}
			for _, use := range *variable.Referrers() {
				load, ok := use.(*ssa.UnOp)
				if !ok {
					continue
				}
				for _, read := range *load.Referrers() {
					switch read.(type) {
					case *ssa.BinOp, *ssa.DebugRef:
					default:
						return true
					}
				}
			}
		}
	}
	return false
}
