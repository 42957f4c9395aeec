package refs

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"slices"

	"golang.org/x/tools/go/ssa"
)

// mostSteps bounds the search for a path; beyond it there is no report.
const mostSteps = 5000

// Lost returns where a path leads on which the reference is not given back, or nil: to a
// return of the function, or in a loop to taken itself. Of two conditions that look the
// same it assumes that they are. A return that can also come after a release under a
// condition is none: the condition may decide about the reference, too.
func (f *Flow) Lost(taken ssa.Instruction) ssa.Instruction {
	given := map[ssa.Instruction]bool{}
	after := map[*ssa.BasicBlock]bool{}
	straight := false
	for _, release := range f.Defers {
		given[release] = true
	}
	for _, release := range f.Releases {
		given[release] = true
		if follows(release, taken) {
			straight = true
		} else {
			markReachable(release.Block(), taken.Block(), after)
		}
	}
	s := &search{flow: f, given: given, after: after}
	if straight {
		s.again = taken
	}
	block := taken.Block()
	at := 0
	for block.Instrs[at] != taken {
		at++
	}
	failure := f.failure(taken)
	known := state{}
	if failure != nil {
		s.failure = key(failure, f)
		known[s.failure+"!=nil"] = false
	}
	for b := block; len(b.Preds) == 1; b = b.Preds[0] { // the conditions under which it is taken
		if in, ok := b.Preds[0].Instrs[len(b.Preds[0].Instrs)-1].(*ssa.If); ok {
			name, negated := condition(in.Cond, f)
			known[name] = (b.Preds[0].Succs[0] == b) != negated
		}
	}
	return s.from(block, at+1, known)
}

// follows reports whether the release is a statement of its own behind the one that takes
// the reference, in the same block of the source: it depends on no condition, and a path
// around it has left the block.
func follows(release, taken ssa.Instruction) (found bool) {
	syntax := taken.Parent().Syntax()
	if syntax == nil {
		return false
	}
	ast.Inspect(syntax, func(n ast.Node) bool {
		var list []ast.Stmt
		switch n := n.(type) {
		case *ast.BlockStmt:
			list = n.List
		case *ast.CaseClause:
			list = n.Body
		case *ast.CommClause:
			list = n.Body
		}
		behind := false
		for _, statement := range list {
			if behind {
				call, ok := statement.(*ast.ExprStmt)
				found = found || ok && within(release, call)
			}
			switch statement.(type) {
			case *ast.AssignStmt, *ast.DeclStmt:
				behind = behind || within(taken, statement)
			}
		}
		return !found
	})
	return found
}

func within(in ssa.Instruction, n ast.Node) bool { return n.Pos() <= in.Pos() && in.Pos() < n.End() }

// markReachable marks the blocks that follow, up to the one that takes the reference anew.
func markReachable(from, until *ssa.BasicBlock, marked map[*ssa.BasicBlock]bool) {
	for _, next := range from.Succs {
		if next != until && !marked[next] {
			marked[next] = true
			markReachable(next, until, marked)
		}
	}
}

// failure returns the error of a call which took the reference, or nil.
func (f *Flow) failure(taken ssa.Instruction) ssa.Value {
	if call, ok := taken.(*ssa.Call); ok && call.Call.Signature().Results().Len() == 2 {
		for _, use := range *call.Referrers() {
			if e, ok := use.(*ssa.Extract); ok && e.Index == 1 {
				return e
			}
		}
	}
	return nil
}

// state is the conditions that a path has decided, by key.
type state map[string]bool

type search struct {
	flow  *Flow
	given map[ssa.Instruction]bool
	after map[*ssa.BasicBlock]bool
	again ssa.Instruction // that takes the reference, if a path to it is a loss

	failure string // the key of the error of taking it, or ""
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
		case *ssa.Return:
			if s.after[block] {
				return nil
			}
			return in
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
		delete(entered, key(phi, s.flow))
		for i, before := range to.Preds {
			if before != from {
				continue
			}
			if c, ok := phi.Edges[i].(*ssa.Const); ok && c.Value != nil && c.Value.Kind() == constant.Bool {
				entered[key(phi, s.flow)] = constant.BoolVal(c.Value)
			} else if isNil(phi.Edges[i]) && !s.flow.Is(phi) {
				entered[key(phi, s.flow)+"!=nil"] = false
			}
		}
	}
	return s.from(to, 0, entered)
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
	isFailure := func(v ssa.Value) bool { return key(v, s.flow) == s.failure }
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
