package refs

import (
	"fmt"
	"go/constant"
	"go/token"
	"maps"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"
)

// mostSteps bounds the search for a path; beyond it there is no report.
const mostSteps = 5000

// state is the conditions that a path has decided, by key.
type state map[string]bool

type search struct {
	flow  *Flow
	given map[ssa.Instruction]bool
	again ssa.Instruction // that takes the reference: a path to it is a loss

	failure string          // the key of the error of taking it, or ""
	copies  map[string]bool // the keys of variables with it
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
		if in == s.again {
			return in
		}
		switch in := in.(type) {
		case *ssa.Store:
			s.stored(in, known)
		case *ssa.Return:
			return in
		case *ssa.Panic:
			if recovers(in.Parent()) {
				return in
			}
		case *ssa.If:
			return s.branch(block, in, known)
		}
	}
	for _, next := range block.Succs {
		if lost := s.enter(block, next, known); lost != nil {
			return lost
		}
	}
	return nil
}

// recovers reports whether a deferred literal of the function recovers from panics.
func recovers(f *ssa.Function) bool {
	return slices.ContainsFunc(f.AnonFuncs, func(literal *ssa.Function) bool {
		return slices.ContainsFunc(literal.Blocks, func(b *ssa.BasicBlock) bool {
			return slices.ContainsFunc(b.Instrs, func(in ssa.Instruction) bool {
				call, ok := in.(*ssa.Call)
				if !ok {
					return false
				}
				b, ok := call.Call.Value.(*ssa.Builtin)
				return ok && b.Name() == "recover"
			})
		})
	})
}

// stored notes that a variable has another value, of which as much is known.
func (s *search) stored(in *ssa.Store, known state) {
	variable, value := "*"+key(in.Addr, s.flow), key(in.Val, s.flow)
	for _, about := range []string{"", "!=nil"} {
		if decided, ok := known[value+about]; ok {
			known[variable+about] = decided
		} else {
			delete(known, variable+about)
		}
	}
	if value == s.failure && value != "" {
		s.copies[variable] = true
	} else {
		delete(s.copies, variable)
	}
}

func (s *search) enter(from, to *ssa.BasicBlock, known state) ssa.Instruction {
	entered := state{}
	for k, v := range known {
		entered[k] = v
	}
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
		maps.DeleteFunc(entered, func(k string, _ bool) bool { return strings.Contains(k, key(phi, s.flow)) })
		name := key(phi, s.flow)
		if c, ok := edge.(*ssa.Const); ok && c.Value != nil && c.Value.Kind() == constant.Bool {
			entered[name] = constant.BoolVal(c.Value)
		} else if isNil(edge) && !s.flow.Is(phi) {
			entered[name+"!=nil"] = false
		}
		for _, about := range []string{"", "!=nil"} {
			if decided, ok := known[key(edge, s.flow)+about]; ok && !s.flow.Is(phi) {
				entered[name+about] = decided
			}
		}
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
	name, negated := condition(in.Cond, s.flow)
	for i, next := range block.Succs {
		value := (i == 0) != negated
		if decided, ok := known[name]; ok && decided != value {
			continue
		}
		if name == heldKey+"!=nil" && !value { // a nil is no reference
			continue
		}
		if s.mayHaveFailed(in.Cond, value != negated) {
			continue
		}
		was, had := known[name]
		known[name] = value
		lost := s.enter(block, next, known)
		if delete(known, name); had {
			known[name] = was
		}
		if lost != nil {
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

// condition returns the key of a condition, and whether it is the opposite of that.
func condition(v ssa.Value, f *Flow) (name string, negated bool) {
	switch v := v.(type) {
	case *ssa.UnOp:
		if v.Op == token.NOT {
			name, negated = condition(v.X, f)
			return name, !negated
		}
	case *ssa.BinOp:
		x, y := v.X, v.Y
		if isNil(x) {
			x, y = y, x
		}
		if length := isEmpty(v); length != nil {
			return key(length, f) + " is empty", v.Op == token.NEQ || v.Op == token.GTR
		}
		switch v.Op {
		case token.EQL, token.NEQ:
			if isNil(y) {
				return key(x, f) + "!=nil", v.Op == token.EQL
			}
			return key(x, f) + "==" + key(y, f), v.Op == token.NEQ
		}
	}
	return key(v, f), false
}

// isEmpty returns the string, slice or map whose length a comparison compares with 0, or
// nil: s == "", len(s) != 0, len(s) > 0.
func isEmpty(v *ssa.BinOp) ssa.Value {
	c, ok := v.Y.(*ssa.Const)
	if !ok || c.Value == nil || v.Op != token.EQL && v.Op != token.NEQ && v.Op != token.GTR {
		return nil
	}
	if c.Value.Kind() == constant.String && constant.StringVal(c.Value) == "" && v.Op != token.GTR {
		return v.X
	}
	call, ok := v.X.(*ssa.Call)
	if !ok || c.Value.Kind() != constant.Int || constant.Sign(c.Value) != 0 {
		return nil
	}
	if b, ok := call.Call.Value.(*ssa.Builtin); ok && b.Name() == "len" {
		return call.Call.Args[0]
	}
	return nil
}

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
		return v.Op.String() + key(v.X, f)
	case *ssa.FieldAddr:
		return fmt.Sprintf("%s.%d", key(v.X, f), v.Field)
	case *ssa.Field:
		return fmt.Sprintf("%s.%d", key(v.X, f), v.Field)
	case *ssa.BinOp:
		return "(" + key(v.X, f) + v.Op.String() + key(v.Y, f) + ")"
	case *ssa.Call:
		if b, ok := v.Call.Value.(*ssa.Builtin); ok && len(v.Call.Args) == 1 {
			return b.Name() + "(" + key(v.Call.Args[0], f) + ")"
		}
	}
	return fmt.Sprintf("%p", v)
}
