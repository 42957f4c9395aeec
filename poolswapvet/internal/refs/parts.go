package refs

import (
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"
)

// Source returns the value that v is: itself, or that of a variable that is assigned to
// once. It returns nil where that is not known.
func Source(v ssa.Value) ssa.Value {
	switch v := v.(type) {
	case *ssa.ChangeType:
		return Source(v.X)
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
		if stored == nil {
			return nil
		}
		return Source(stored)
	case *ssa.Const, *ssa.Phi:
		return nil
	}
	return v
}

// Parts returns the values of the wanted types that are loaded from fields of the object,
// and slices of them.
func Parts(f *Flow, wanted func(types.Type) bool) (parts []ssa.Value) {
	for _, use := range f.Uses {
		field, ok := use.(*ssa.FieldAddr)
		if !ok {
			continue
		}
		parts = append(parts, loads(field, wanted)...)
	}
	for i := 0; i < len(parts); i++ {
		for _, use := range *parts[i].Referrers() {
			if slice, ok := use.(*ssa.Slice); ok {
				parts = append(parts, slice)
			}
		}
	}
	return parts
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

// Returns reports whether the instruction returns the part itself.
func Returns(use ssa.Instruction, part ssa.Value) bool {
	switch use := use.(type) {
	case *ssa.Return:
		return slices.Contains(use.Results, part)
	case *ssa.Store: // to the result of a function with deferred calls, which is loaded after them
		result, ok := use.Addr.(*ssa.Alloc)
		return ok && use.Val == part && slices.ContainsFunc(*result.Referrers(), func(in ssa.Instruction) bool {
			load, ok := in.(*ssa.UnOp)
			return ok && slices.ContainsFunc(*load.Referrers(), func(in ssa.Instruction) bool { return Returns(in, load) })
		})
	}
	return false
}

// Reads reports whether the instruction reads the memory of a slice, map or string, or
// passes it on. Its length is in the value.
func Reads(use ssa.Instruction) bool {
	switch use := use.(type) {
	case *ssa.IndexAddr, *ssa.Index, *ssa.Lookup, *ssa.Range, *ssa.Return, *ssa.Store, *ssa.MapUpdate, *ssa.Send, *ssa.MakeInterface:
		return true
	case ssa.CallInstruction:
		b, isBuiltin := use.Common().Value.(*ssa.Builtin)
		return !isBuiltin || b.Name() != "len" && b.Name() != "cap"
	}
	return false
}

// SlabStrings returns the strings that calls get out of slabs in the object.
func SlabStrings(f *Flow) (found []ssa.Value) {
	for _, use := range f.Uses {
		field, ok := use.(*ssa.FieldAddr)
		if !ok {
			continue
		}
		for _, use := range *field.Referrers() {
			call, ok := use.(*ssa.Call)
			if !ok || !isSlab(call) {
				continue
			}
			if isString(call.Type()) {
				found = append(found, call)
			}
			for _, use := range *call.Referrers() {
				if e, ok := use.(*ssa.Extract); ok && isString(e.Type()) {
					found = append(found, e)
				}
			}
		}
	}
	return found
}

// isSlab reports whether a method of package slab is called.
func isSlab(call *ssa.Call) bool {
	f := call.Call.StaticCallee()
	if f == nil {
		return false
	}
	if origin := f.Origin(); origin != nil {
		f = origin
	}
	named := receiver(f)
	return named != nil && named.Obj().Pkg() != nil && named.Obj().Pkg().Path() == Library+"/slab"
}

func isString(t types.Type) bool {
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Kind() == types.String
}
