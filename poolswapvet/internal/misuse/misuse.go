// Package misuse has the analyzers of poolswapvet.
package misuse

import (
	"go/token"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ssa"

	"github.com/poolswap/poolswap/poolswapvet/internal/refs"
)

// All are the analyzers, in the order of the documentation.
var All = []*analysis.Analyzer{LostRelease, DoubleRelease, UseAfterRelease, PublishedUse, KeptCurrent, ReaderShare, SlabEscape}

// analyzer returns an analyzer that looks at each function of a package that reaches the
// library.
func analyzer(name, doc string, look func(*function)) *analysis.Analyzer {
	return &analysis.Analyzer{
		Name: name, Doc: doc, Requires: []*analysis.Analyzer{refs.Analyzer},
		Run: func(pass *analysis.Pass) (any, error) {
			program, _ := pass.ResultOf[refs.Analyzer].(*refs.Program)
			if program == nil {
				return nil, nil
			}
			for _, f := range program.Functions {
				look(&function{pass: pass, program: program, f: f, reported: map[token.Pos]bool{}})
			}
			return nil, nil
		},
	}
}

// function is one function that is looked at.
type function struct {
	pass     *analysis.Pass
	program  *refs.Program
	f        *ssa.Function
	reported map[token.Pos]bool
}

// report reports once for each place.
func (fn *function) report(at token.Pos, format string, values ...any) {
	if at.IsValid() && !fn.reported[at] {
		fn.reported[at] = true
		fn.pass.Reportf(at, format, values...)
	}
}

// line returns the line of a position, for messages.
func (fn *function) line(at token.Pos) int { return fn.pass.Fset.Position(at).Line }

// instructions yields the instructions of the function.
func (fn *function) instructions(yield func(ssa.Instruction) bool) {
	for _, block := range fn.f.Blocks {
		for _, in := range block.Instrs {
			if !yield(in) {
				return
			}
		}
	}
}

// reference is the result of a call that takes one.
type reference struct {
	value ssa.Value
	call  *ssa.Call
	kind  refs.Kind
}

// taken yields the references that calls in the function take.
func (fn *function) taken(yield func(reference) bool) {
	for in := range fn.instructions {
		call, ok := in.(*ssa.Call)
		if !ok {
			continue
		}
		if kind := fn.program.Taken(call); kind != refs.None && !yield(reference{call, call, kind}) {
			return
		}
		for _, use := range *call.Referrers() {
			if extract, ok := use.(*ssa.Extract); ok {
				if kind := fn.program.Taken(extract); kind != refs.None && !yield(reference{extract, call, kind}) {
					return
				}
			}
		}
	}
}

// called yields the calls of the library in the function, of that kind, with their
// argument.
func (fn *function) called(kind refs.Kind) func(yield func(ssa.CallInstruction, ssa.Value) bool) {
	return func(yield func(ssa.CallInstruction, ssa.Value) bool) {
		for in := range fn.instructions {
			if call, ok := in.(ssa.CallInstruction); ok && refs.KindOf(call.Common()) == kind {
				if !yield(call, refs.Subject(call.Common(), kind)) {
					return
				}
			}
		}
	}
}
