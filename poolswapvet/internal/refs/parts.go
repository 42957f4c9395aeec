package refs

import (
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"
)

// Source returns the value that v is: itself, or that of a variable that is assigned to
// once. It returns nil where that is not known.
func Source(v ssa.Value) ssa.Value { return source(v, 8) }

// source is Source through that many variables: one can be assigned to itself.
func source(v ssa.Value, variables int) ssa.Value {
	switch v := v.(type) {
	case *ssa.ChangeType:
		return source(v.X, variables)
	case *ssa.UnOp:
		variable, ok := v.X.(*ssa.Alloc)
		if !ok {
			return nil
		}
		var stored ssa.Value
		for _, use := range *variable.Referrers() {
			if store, ok := use.(*ssa.Store); ok && store.Addr == ssa.Value(variable) {
				if stored != nil {
					return nil
				}
				stored = store.Val
			}
		}
		if stored == nil || variables == 0 {
			return nil
		}
		return source(stored, variables-1)
	case *ssa.Const, *ssa.Phi:
		return nil
	}
	return v
}

// Parts returns the values of the wanted types that are loaded from fields of the object
// and of elements of its slices, slices of them, and pointers to elements.
func Parts(f *Flow, wanted func(types.Type) bool) (parts []ssa.Value) {
	for _, use := range f.Uses {
		field, ok := use.(*ssa.FieldAddr)
		if !ok {
			continue
		}
		parts = append(parts, loads(field, wanted)...)
	}
	for _, call := range f.accessors {
		parts = append(parts, extracted(call, wanted)...)
	}
	for i := 0; i < len(parts); i++ {
		for _, use := range *parts[i].Referrers() {
			switch use := use.(type) {
			case *ssa.Slice:
				parts = append(parts, use)
			case *ssa.IndexAddr:
				parts = append(parts, use)
			case *ssa.FieldAddr: // of an element
				parts = append(parts, loads(use, wanted)...)
			case *ssa.Store: // in a variable that function literals share
				parts = append(parts, shared(use, parts[i])...)
			}
		}
	}
	return parts
}

// shared returns the loads of a variable that has the value alone.
func shared(store *ssa.Store, v ssa.Value) (found []ssa.Value) {
	variable, ok := store.Addr.(*ssa.Alloc)
	if !ok || store.Val != v {
		return nil
	}
	for _, use := range *variable.Referrers() {
		switch use := use.(type) {
		case *ssa.UnOp:
			found = append(found, use)
		case *ssa.Store:
			if use != store {
				return nil
			}
		}
	}
	return found
}

func loads(field *ssa.FieldAddr, wanted func(types.Type) bool) (found []ssa.Value) {
	for _, use := range *field.Referrers() {
		switch use := use.(type) {
		case *ssa.UnOp:
			if wanted(use.Type()) {
				found = append(found, use)
			}
		case *ssa.FieldAddr: // of a struct in the object
			found = append(found, loads(use, wanted)...)
		}
	}
	return found
}

// Returns reports whether the instruction returns the part itself, or a struct with it.
func Returns(use ssa.Instruction, part ssa.Value) bool { return returns(use, part, 2) }

// returns is Returns through that many variables.
func returns(use ssa.Instruction, part ssa.Value, variables int) bool {
	switch use := use.(type) {
	case *ssa.Return:
		return slices.Contains(use.Results, part)
	case *ssa.Store: // to the result of a function with deferred calls, which is loaded after them
		to := use.Addr
		if field, ok := to.(*ssa.FieldAddr); ok {
			to = field.X
		}
		result, ok := to.(*ssa.Alloc)
		return ok && use.Val == part && variables > 0 && slices.ContainsFunc(*result.Referrers(), func(in ssa.Instruction) bool {
			load, ok := in.(*ssa.UnOp)
			return ok && slices.ContainsFunc(*load.Referrers(), func(in ssa.Instruction) bool { return returns(in, load, variables-1) })
		})
	}
	return false
}

// ReturnsMap reports whether the instruction sets the part in a map that the function made
// and returns.
func ReturnsMap(in ssa.Instruction, part ssa.Value) bool {
	update, ok := in.(*ssa.MapUpdate)
	if !ok || update.Key != part && update.Value != part {
		return false
	}
	made, ok := update.Map.(*ssa.MakeMap)
	return ok && slices.ContainsFunc(*made.Referrers(), func(use ssa.Instruction) bool { return Returns(use, made) })
}

// Appended returns the append whose argument the instruction makes, or nil.
func Appended(in ssa.Instruction) *ssa.Call {
	store, ok := in.(*ssa.Store)
	if !ok {
		return nil
	}
	element, ok := store.Addr.(*ssa.IndexAddr)
	if !ok {
		return nil
	}
	array, ok := element.X.(*ssa.Alloc)
	if !ok {
		return nil
	}
	for _, use := range *array.Referrers() {
		all, ok := use.(*ssa.Slice)
		if !ok {
			continue
		}
		for _, use := range *all.Referrers() {
			if call, ok := use.(*ssa.Call); ok && Appends(call) {
				return call
			}
		}
	}
	return nil
}

// ReturnsAppended reports whether the instruction makes an argument of an append to a slice
// that the function returns.
func ReturnsAppended(in ssa.Instruction) bool {
	call := Appended(in)
	if call == nil {
		return false
	}
	all := []ssa.Value{call}
	for i := 0; i < len(all); i++ {
		for _, use := range *all[i].Referrers() {
			next, ok := use.(ssa.Value)
			_, isPhi := use.(*ssa.Phi)
			again, isCall := use.(*ssa.Call)
			switch {
			case Returns(use, all[i]):
				return true
			case isPhi, isCall && Appends(again) && again.Call.Args[0] == all[i]:
				if ok && !slices.Contains(all, next) {
					all = append(all, next)
				}
			}
		}
	}
	return false
}

// Appends reports whether append is called.
func Appends(call *ssa.Call) bool {
	b, ok := call.Call.Value.(*ssa.Builtin)
	return ok && b.Name() == "append"
}

// Reads reports whether the instruction reads the memory of a slice, map, string or
// element, or passes it on. Its length is in the value.
func Reads(use ssa.Instruction) bool {
	switch use := use.(type) {
	case *ssa.UnOp, *ssa.FieldAddr, *ssa.IndexAddr, *ssa.Index, *ssa.Lookup, *ssa.Range, *ssa.Return, *ssa.Store, *ssa.MapUpdate, *ssa.Send, *ssa.MakeInterface:
		return true
	case *ssa.BinOp:
		return isString(use.X.Type())
	case ssa.CallInstruction:
		b, isBuiltin := use.Common().Value.(*ssa.Builtin)
		return !isBuiltin || b.Name() != "len" && b.Name() != "cap"
	}
	return false
}
