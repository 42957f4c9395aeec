package misuse

import (
	"go/constant"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"
)

// recycles reports whether the instruction stores in a field of a parameter whose memory the
// package uses again: it cuts the slice in the field to nothing, or clears the map.
func (fn *function) recycles(in ssa.Instruction) bool {
	store, ok := in.(*ssa.Store)
	if !ok {
		return false
	}
	kept, ok := store.Addr.(*ssa.FieldAddr)
	return ok && slices.ContainsFunc(fn.program.Functions, func(f *ssa.Function) bool {
		return slices.ContainsFunc(f.Blocks, func(b *ssa.BasicBlock) bool {
			return slices.ContainsFunc(b.Instrs, func(in ssa.Instruction) bool {
				field := emptied(in)
				return field != nil && field.Field == kept.Field && types.Identical(field.X.Type(), kept.X.Type())
			})
		})
	})
}

// emptied returns the field whose slice or map the instruction makes empty, or nil.
func emptied(in ssa.Instruction) *ssa.FieldAddr {
	var of ssa.Value
	switch in := in.(type) {
	case *ssa.Slice:
		if c, ok := in.High.(*ssa.Const); ok && c.Value != nil && constant.Sign(c.Value) == 0 {
			of = in.X
		}
	case *ssa.Call:
		if b, ok := in.Call.Value.(*ssa.Builtin); ok && b.Name() == "clear" {
			of = in.Call.Args[0]
		}
	}
	load, ok := of.(*ssa.UnOp)
	if !ok {
		return nil
	}
	field, _ := load.X.(*ssa.FieldAddr)
	return field
}
