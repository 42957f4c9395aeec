package refs

import (
	"go/types"
	"strings"

	"golang.org/x/tools/go/ssa"
)

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
			found = append(found, extracted(call, isString)...)
			for _, use := range *call.Referrers() {
				found = append(found, yielded(use, call)...)
			}
		}
	}
	for _, call := range f.slabAccessors {
		found = append(found, extracted(call, isString)...)
	}
	for i := 0; i < len(found); i++ {
		for _, use := range *found[i].Referrers() {
			switch use := use.(type) {
			case *ssa.Slice:
				found = append(found, use)
			case *ssa.Call:
				if f := declared(&use.Call); f != nil && f.Pkg() != nil && f.Pkg().Path() == "strings" && use.Call.Args[0] == found[i] {
					switch {
					case strings.HasPrefix(f.Name(), "Trim"):
						found = append(found, use)
					case strings.HasPrefix(f.Name(), "Cut"):
						found = append(found, extracted(use, isString)...)
					}
				}
			}
		}
	}
	return found
}

// extracted returns the results of a call that have a wanted type.
func extracted(call *ssa.Call, wanted func(types.Type) bool) (found []ssa.Value) {
	if wanted(call.Type()) {
		return []ssa.Value{call}
	}
	for _, use := range *call.Referrers() {
		if e, ok := use.(*ssa.Extract); ok && wanted(e.Type()) {
			found = append(found, e)
		}
	}
	return found
}

// yielded returns the strings that a loop over the sequence gives to its body.
func yielded(in ssa.Instruction, sequence ssa.Value) (found []ssa.Value) {
	loop, ok := in.(*ssa.Call)
	if !ok || loop.Call.Value != sequence || len(loop.Call.Args) != 1 {
		return nil
	}
	if body, ok := loop.Call.Args[0].(*ssa.MakeClosure); ok {
		for _, parameter := range body.Fn.(*ssa.Function).Params {
			if isString(parameter.Type()) {
				found = append(found, parameter)
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
