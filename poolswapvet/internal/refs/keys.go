package refs

import (
	"fmt"
	"go/constant"
	"go/token"
	"slices"

	"golang.org/x/tools/go/ssa"
)

// heldKey is the key of the reference.
const heldKey = "held"

// key names a value such that values with one name are taken to be equal.
func key(v ssa.Value, f *Flow) string {
	if f.Is(v) {
		return heldKey
	}
	switch v := v.(type) {
	case *ssa.Const:
		return v.String()
	case *ssa.UnOp:
		if v.Op != token.ARROW {
			return v.Op.String() + key(v.X, f)
		}
	case *ssa.FieldAddr:
		return fmt.Sprintf("%s.%d", key(v.X, f), v.Field)
	case *ssa.Field:
		return fmt.Sprintf("%s.%d", key(v.X, f), v.Field)
	case *ssa.BinOp:
		return "(" + key(v.X, f) + v.Op.String() + key(v.Y, f) + ")"
	case *ssa.Extract:
		return fmt.Sprintf("%s#%d", key(v.Tuple, f), v.Index)
	case *ssa.TypeAssert:
		return key(v.X, f) + ".(" + v.AssertedType.String() + ")"
	case *ssa.Lookup:
		return key(v.X, f) + "[" + key(v.Index, f) + "]"
	case *ssa.Call:
		b, ok := v.Call.Value.(*ssa.Builtin)
		if called := v.Call.StaticCallee(); !ok && (called == nil || !isGetter(called)) || ok && b.Name() != "len" && b.Name() != "cap" && b.Name() != "recover" {
			break
		}
		name := v.Call.Value.String() + "("
		if ok {
			name = b.Name() + "("
		}
		for _, a := range v.Call.Args {
			name += key(a, f)
		}
		return name + ")"
	case *ssa.FreeVar: // the variable of the function around
		made := v.Parent().Referrers()
		if made == nil || len(*made) != 1 {
			break
		}
		if made, ok := (*made)[0].(*ssa.MakeClosure); ok {
			return key(made.Bindings[slices.Index(v.Parent().FreeVars, v)], f)
		}
	}
	return fmt.Sprintf("%p", v)
}

// isGetter reports whether a function only reads fields of its arguments.
func isGetter(f *ssa.Function) bool {
	return len(f.Blocks) > 0 && len(f.Blocks) < 5 && !slices.ContainsFunc(f.Blocks, func(b *ssa.BasicBlock) bool {
		return slices.ContainsFunc(b.Instrs, func(in ssa.Instruction) bool {
			switch in := in.(type) {
			case *ssa.UnOp:
				return in.Op == token.ARROW
			case *ssa.Store: // of a parameter that is a struct
				_, isParameter := in.Val.(*ssa.Parameter)
				return !isParameter
			case *ssa.Alloc, *ssa.FieldAddr, *ssa.Field, *ssa.BinOp, *ssa.Return, *ssa.If, *ssa.Jump, *ssa.Phi, *ssa.DebugRef:
				return false
			}
			return true
		})
	})
}

// constantOf returns the constant that a value is on the path, or nil.
func (s state) constantOf(v ssa.Value, f *Flow) constant.Value {
	if c, ok := v.(*ssa.Const); ok {
		if c.Value != nil && c.Value.Kind() != constant.Bool {
			return c.Value
		}
		return nil
	}
	for _, fact := range s.facts[s.known(key(v, f))] {
		if fact.op == token.EQL {
			return fact.c
		}
	}
	if sum, ok := v.(*ssa.BinOp); ok && (sum.Op == token.ADD || sum.Op == token.SUB) {
		x, y := s.constantOf(sum.X, f), s.constantOf(sum.Y, f)
		if x != nil && y != nil && x.Kind() == constant.Int && y.Kind() == constant.Int {
			if first := constant.BinaryOp(x, sum.Op, y); constant.Sign(first) <= 0 {
				return first
			} // the count of a loop that went round is not known
		}
	}
	return nil
}

// known returns the name under which there is what is known of a name: a variable has that
// of its value.
func (s state) known(name string) string {
	if same, ok := s.same[name]; ok {
		return same
	}
	return name
}
