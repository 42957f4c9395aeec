package misuse

import (
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/poolswap/poolswap/poolswapvet/internal/refs"
)

// KeptCurrent reports an object that outlives the function to which it was lent.
var KeptCurrent = analyzer("keptcurrent",
	"report an object that WithAcquire, Publish or Versions lends to a function and that the function keeps, and a Reader's object that is released or kept",
	func(fn *function) {
		for literal, lender := range fn.lent {
			fn.keeps(literal, bodyOf(lender), lender)
		}
		for load := range fn.called(refs.Load) {
			object, ok := load.(*ssa.Call)
			if !ok {
				continue
			}
			for _, use := range *object.Referrers() {
				switch {
				case isKind(use, refs.Release):
					fn.report(use.Pos(), "Release of an object that belongs to a Reader, which releases it itself")
				case isStored(use, object):
					fn.report(posOf(use), "an object of a Reader is kept: it is valid until the next Load, Park or Close")
				}
			}
		}
	})

// lent yields the function literals to which calls in the function lend objects, with the
// names of these.
func (fn *function) lent(yield func(*ssa.Function, string) bool) {
	for in := range fn.instructions {
		call, ok := in.(ssa.CallInstruction)
		if !ok {
			continue
		}
		lender := call
		if sequence, ok := call.Common().Value.(*ssa.Call); ok && refs.KindOf(sequence.Common()) == refs.Sequence {
			lender = sequence
		} else if refs.KindOf(call.Common()) != refs.Lend {
			continue
		}
		for _, argument := range call.Common().Args {
			literal, ok := argument.(*ssa.Function)
			if made, isMade := argument.(*ssa.MakeClosure); isMade {
				literal, ok = made.Fn.(*ssa.Function), true
			}
			if ok && !yield(literal, name(lender)) {
				return
			}
		}
	}
}

// bodyOf returns what programs have for the function of a lender: a function, or the body of
// a loop.
func bodyOf(lender string) string {
	if lender == "Versions" {
		return "the body of a loop over Versions"
	}
	return "the function of " + lender
}

func isPointer(v ssa.Value) bool {
	_, ok := v.Type().Underlying().(*types.Pointer)
	return ok
}

// keeps reports where a function stores one of its parameters beyond its own life.
func (fn *function) keeps(literal *ssa.Function, body, lender string) {
	for _, parameter := range literal.Params {
		if !isPointer(parameter) {
			continue
		}
		hint := " (Retain it)"
		if lender == "Publish" && parameter == literal.Params[0] {
			hint = " (Retain the published one)"
		}
		flow := fn.program.Follow(parameter)
		if len(flow.Retains) > 0 {
			continue
		}
		for _, part := range refs.Parts(flow, isContainer) {
			for _, use := range *part.Referrers() {
				if isStored(use, part) && !isReplaced(use) && (!isOfParameter(use) || fn.recycles(use)) {
					fn.report(posOf(use), "%s keeps a %s out of its object, which is not held any more when it has returned", body, kindOf(part.Type()))
				}
			}
		}
		for _, use := range *parameter.Referrers() {
			switch {
			case isStored(use, parameter):
				fn.report(posOf(use), "%s keeps its object, which is not held any more when it has returned%s", body, hint)
			case isKind(use, refs.Release) && use.(ssa.CallInstruction).Common().Args[1] == ssa.Value(parameter):
				fn.report(use.Pos(), "%s releases an object that it does not hold: %s does", body, lender)
			}
			if start := startedWith(use); start != nil && !waitsAfter(start) {
				fn.report(start.Pos(), "a goroutine has the object of %s, which is not held any more when it has returned%s", body, hint)
			}
		}
	}
}

// isOfParameter reports whether the instruction stores in an object that is a parameter of
// the function: the next object of a fill.
func isOfParameter(in ssa.Instruction) bool {
	store, ok := in.(*ssa.Store)
	if !ok {
		return false
	}
	at := store.Addr
	for {
		field, ok := at.(*ssa.FieldAddr)
		if !ok {
			_, isParameter := at.(*ssa.Parameter)
			return isParameter
		}
		at = field.X
	}
}

// isStored reports whether the instruction stores the value beyond the function: in a
// variable, field or map of others, in a slice in one, or in a channel.
func isStored(in ssa.Instruction, v ssa.Value) bool {
	switch in := in.(type) {
	case *ssa.Send:
		return in.X == v
	case *ssa.MapUpdate:
		return (in.Key == v || in.Value == v) && outlivesBase(in.Map)
	case *ssa.Store:
		return in.Val == v && (outlives(in.Addr) || isKept(refs.Appended(in)))
	case *ssa.MakeInterface:
		return slices.ContainsFunc(*in.Referrers(), isStore)
	case *ssa.Call:
		return isStore(in) && slices.Contains(in.Call.Args, v)
	}
	return false
}

// isKept reports whether the slice that an append makes is stored beyond the function.
func isKept(call *ssa.Call) bool {
	return call != nil && slices.ContainsFunc(*call.Referrers(), func(in ssa.Instruction) bool { return isStored(in, call) })
}

// isStore reports whether a method of packages sync and atomic is called that stores its
// argument.
func isStore(in ssa.Instruction) bool {
	call, ok := in.(*ssa.Call)
	if !ok || call.Call.StaticCallee() == nil {
		return false
	}
	f := call.Call.StaticCallee()
	if origin := f.Origin(); origin != nil {
		f = origin
	}
	of, ok := f.Object().(*types.Func)
	return ok && of.Pkg() != nil && strings.HasPrefix(of.Pkg().Path(), "sync") && slices.Contains([]string{"Store", "LoadOrStore", "Swap"}, f.Name()) && outlivesBase(call.Call.Args[0])
}

// startedWith returns the call that starts a goroutine with the object that the
// instruction stores in a variable, or nil.
func startedWith(in ssa.Instruction) ssa.CallInstruction {
	if start, ok := in.(*ssa.Go); ok {
		return start
	}
	store, ok := in.(*ssa.Store)
	if !ok {
		return nil
	}
	variable, ok := store.Addr.(*ssa.Alloc)
	if !ok {
		return nil
	}
	for _, use := range *variable.Referrers() {
		made, ok := use.(*ssa.MakeClosure)
		if !ok {
			continue
		}
		for _, use := range *made.Referrers() {
			if started(use) == made {
				return use.(ssa.CallInstruction)
			}
		}
	}
	return nil
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
