package misuse

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/format"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ast/astutil"
	"golang.org/x/tools/go/ssa"

	"github.com/poolswap/poolswap/poolswapvet/internal/refs"
)

// LostRelease reports a reference that a path to a return does not give back.
var LostRelease = analyzer("lostrelease",
	"report objects of Acquire, Get or Retain that are not released on some path to a return, and Readers that are not closed",
	func(fn *function) {
		for r := range fn.taken {
			v, call, kind := r.value, r.call, r.kind
			if extract, ok := v.(*ssa.Extract); !ok && v.Referrers() != nil && len(*v.Referrers()) == 0 {
				if kind != refs.Retain || fn.releasedOnce(call) { // under its other name
					fn.report(call.Pos(), "the result of %s is not used, so it is never %s", name(call), given[kind])
				}
				continue
			} else if ok && len(*extract.Referrers()) == 0 {
				continue
			}
			flow := fn.program.FollowAlone(v)
			if flow.OnlyCompared() || flow.Escapes || flow.Merged || len(flow.Retains) > 0 {
				continue
			}
			for _, end := range flow.Defers {
				if refs.Endless(end.Block()) {
					fn.report(end.Pos(), "a deferred %s in a loop without an end: each turn holds one object more", name(end.(ssa.CallInstruction)))
				}
			}
			if lost := flow.Lost(call); lost != nil {
				message := fmt.Sprintf("the result of %s is not %s before the function ends", name(call), given[kind])
				if lost.Parent() != fn.f {
					message = fmt.Sprintf("the goroutine that has the result of %s does not release it before it ends", name(call))
					if lost.Pos().IsValid() {
						message = fmt.Sprintf("the goroutine that has the result of %s does not release it on the path to the return in line %d", name(call), fn.line(lost.Pos()))
					}
				} else if lost == ssa.Instruction(call) {
					message = fmt.Sprintf("the result of %s is not %s before the loop takes the next", name(call), given[kind])
				} else if next, ok := lost.(*ssa.Call); ok {
					message = fmt.Sprintf("the result of %s is not %s before its variable gets that of %s in line %d", name(call), given[kind], name(next), fn.line(lost.Pos()))
				} else if _, isReturn := lost.(*ssa.Return); isReturn && lost.Pos().IsValid() {
					message = fmt.Sprintf("the result of %s is not %s on the path to the return in line %d", name(call), given[kind], fn.line(lost.Pos()))
				}
				var fixes []analysis.SuggestedFix
				if kind == refs.Acquire && refs.KindOf(call.Common()) == kind && len(flow.Releases)+len(flow.Defers) == 0 {
					fixes = fn.deferRelease(call)
				}
				fn.pass.Report(analysis.Diagnostic{Pos: call.Pos(), Message: message, SuggestedFixes: fixes})
			}
		}
		fn.overwritten()
	})

// releasedOnce reports whether the function took the object of a Retain itself, and has
// one Release of it: it has two references.
func (fn *function) releasedOnce(retain *ssa.Call) bool {
	object := refs.Source(refs.Subject(retain.Common(), refs.KindOf(retain.Common())))
	if object == nil || fn.program.Taken(object) == refs.None {
		return false
	}
	flow := fn.program.Follow(object)
	for _, end := range append(flow.Releases, flow.Defers...) {
		if refs.InLoop(end.Block(), object.(ssa.Instruction).Block()) {
			return false
		}
	}
	return len(flow.Releases)+len(flow.Defers) == 1 && len(flow.Handed) == 0 && !flow.Escapes && !flow.Merged && !flow.Returned && len(flow.Retains) == 1
}

// overwritten reports references in a variable that had another before, which was not given
// back: in a loop, or on one of two branches.
func (fn *function) overwritten() {
	for _, block := range fn.f.Blocks {
		for _, in := range block.Instrs {
			joined, ok := in.(*ssa.Phi)
			if !ok {
				break
			}
			if kind := fn.program.Joined(joined); kind != refs.None {
				flow := fn.program.FollowAlone(joined)
				if flow.OnlyCompared() || flow.Escapes || flow.Merged || len(flow.Retains) > 0 {
					continue
				}
				if call, ok := flow.Lost(joined).(*ssa.Call); ok {
					fn.report(call.Pos(), "the result of %s takes the place of an object that is not %s before", name(call), given[kind])
				}
			}
		}
	}
}

// given says how a reference of that kind is given back.
var given = map[refs.Kind]string{
	refs.Acquire: "released", refs.Retain: "released", refs.Own: "published or released", refs.OpenReader: "closed",
}

// name returns the name of the function that is called.
func name(call ssa.CallInstruction) string {
	if f := call.Common().StaticCallee(); f != nil {
		if f.Parent() != nil {
			return "a function literal with a Release"
		}
		if origin := f.Origin(); origin != nil {
			f = origin
		}
		return f.Name()
	}
	return "the call"
}

// deferRelease suggests a deferred Release behind the statement t := c.Acquire().
func (fn *function) deferRelease(call *ssa.Call) []analysis.SuggestedFix {
	for _, file := range fn.pass.Files {
		if call.Pos() < file.FileStart || call.Pos() >= file.FileEnd {
			continue
		}
		path, _ := astutil.PathEnclosingInterval(file, call.Pos(), call.Pos())
		for i, node := range path {
			assignment, ok := node.(*ast.AssignStmt)
			if !ok || len(assignment.Lhs) != 1 || len(assignment.Rhs) != 1 {
				continue
			}
			variable, isName := assignment.Lhs[0].(*ast.Ident)
			called, isCall := assignment.Rhs[0].(*ast.CallExpr)
			if _, inBlock := path[i+1].(*ast.BlockStmt); !isName || !isCall || !inBlock || variable.Name == "_" {
				return nil
			}
			method, ok := called.Fun.(*ast.SelectorExpr)
			var container bytes.Buffer
			if !ok || format.Node(&container, fn.pass.Fset, method.X) != nil {
				return nil
			}
			indent := strings.Repeat("\t", fn.pass.Fset.Position(assignment.Pos()).Column-1)
			return []analysis.SuggestedFix{{
				Message: "Release it when the function returns",
				TextEdits: []analysis.TextEdit{{
					Pos: assignment.End(), End: assignment.End(),
					NewText: fmt.Appendf(nil, "\n%sdefer %s.Release(%s)", indent, &container, variable.Name),
				}},
			}}
		}
	}
	return nil
}
