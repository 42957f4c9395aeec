package refs

import (
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"
)

// effect is what a call does to an argument.
type effect int

const (
	unknown  effect = iota
	lent            // it uses the argument until it returns
	released        // it gives the argument back, however it returns
)

// Summary is what is known of a function of another package.
type Summary struct {
	Lends    []int // parameters that it uses until it returns
	Releases []int // parameters that it gives back, however it returns
	Parts    []int // parameters of which it returns a slice or map out of the object
	Strings  []int // parameters of which it returns a string of a slab in the object
	Result   int   // of those that are references, one more than the index of the first; 0: none
	Kind     Kind  // of that
	Closer   int   // of those that are functions which give the reference back, the same
}

// AFact makes a Summary a fact of the analysis.
func (*Summary) AFact() {}

func (s *Summary) String() string { return "references" }

// effect returns the effect of a call on its argument.
func (p *Program) effect(call *ssa.CallCommon, argument ssa.Value) effect {
	f := declared(call)
	if f == nil {
		return unknown
	}
	s, known := p.summary(f)
	if !known {
		return unknown
	}
	effect := unknown
	for i, a := range call.Args {
		if a != argument {
			continue
		}
		switch {
		case contains(s.Releases, i):
			effect = released
		case !contains(s.Lends, i):
			return unknown
		case effect == unknown:
			effect = lent
		}
	}
	return effect
}

func contains(list []int, i int) bool {
	for _, one := range list {
		if one == i {
			return true
		}
	}
	return false
}

func (p *Program) summary(f *types.Func) (s Summary, known bool) {
	if s, known = p.summaries[f]; known {
		return s, true
	}
	known = p.pass.ImportObjectFact(f, &s)
	return s, known
}

// rounds is how often functions that call each other are looked at again.
const rounds = 3

// summarize looks at the functions of the package, and exports what other packages need.
func (p *Program) summarize() {
	for range rounds {
		for _, f := range p.Functions {
			if named, ok := f.Object().(*types.Func); ok {
				p.summaries[named] = p.summaryOf(f)
			}
		}
	}
	for f, s := range p.summaries {
		if f.Pkg() == p.pass.Pkg {
			p.pass.ExportObjectFact(f, &s)
		}
	}
}

func (p *Program) summaryOf(f *ssa.Function) (s Summary) {
	for i, parameter := range f.Params {
		if !isPointer(parameter.Type()) {
			continue
		}
		flow := p.Follow(parameter)
		switch {
		case flow.Escapes || flow.Merged || flow.Returned || len(flow.Retains)+len(flow.Handed) > 0:
		case len(flow.Releases)+len(flow.Defers) == 0:
			s.Lends = append(s.Lends, i)
			if p.returnsAll(f, Parts(flow, isContainer)) {
				s.Parts = append(s.Parts, i)
			}
			if p.returnsAll(f, SlabStrings(flow)) {
				s.Strings = append(s.Strings, i)
			}
		case flow.everywhere(f) && !isResponse(parameter.Type()):
			s.Releases = append(s.Releases, i)
		}
	}
	for i := range f.Signature.Results().Len() {
		if kind := p.resultKind(f, i); kind != None {
			s.Result, s.Kind = i+1, kind
			s.Closer = p.closer(f, i)
			break
		}
	}
	return s
}

// returnsAll reports whether each return of the function has one of the parts, or nothing.
func (p *Program) returnsAll(f *ssa.Function, parts []ssa.Value) bool {
	found := false
	for _, block := range f.Blocks {
		last, ok := block.Instrs[len(block.Instrs)-1].(*ssa.Return)
		if !ok {
			continue
		}
		for _, result := range last.Results {
			_, isConst := result.(*ssa.Const)
			switch {
			case slices.Contains(parts, result):
				found = true
			case !isConst && (isContainer(result.Type()) || isString(result.Type())):
				return false
			}
		}
	}
	return found
}

func isContainer(t types.Type) bool {
	switch t.Underlying().(type) {
	case *types.Slice, *types.Map:
		return true
	}
	return false
}

// accessed notes that a call returns a part of its argument.
func (p *Program) accessed(f *Flow, argument ssa.Value, call *ssa.Call) {
	called := declared(&call.Call)
	if called == nil {
		return
	}
	s, _ := p.summary(called)
	for i, a := range call.Call.Args {
		if a == argument && contains(s.Parts, i) {
			f.accessors = append(f.accessors, call)
		}
		if a == argument && contains(s.Strings, i) {
			f.slabAccessors = append(f.slabAccessors, call)
		}
	}
}

// everywhere reports whether each return of the function comes after a release.
func (f *Flow) everywhere(fn *ssa.Function) bool {
	for _, block := range fn.Blocks {
		last, ok := block.Instrs[len(block.Instrs)-1].(*ssa.Return)
		if !ok || block == fn.Recover {
			continue
		}
		before := false
		for _, release := range append(f.Releases[:len(f.Releases):len(f.Releases)], f.Defers...) {
			sure, isLiteral := f.Sure[release]
			before = before || (sure || !isLiteral) && Dominates(release, last)
		}
		if !before {
			return false
		}
	}
	return true
}

// resultKind returns the kind of reference that a result always is, or None.
func (p *Program) resultKind(f *ssa.Function, result int) (kind Kind) {
	for _, block := range f.Blocks {
		last, ok := block.Instrs[len(block.Instrs)-1].(*ssa.Return)
		if !ok || result >= len(last.Results) || isNil(last.Results[result]) {
			continue
		}
		v := sourceOr(last.Results[result])
		taken := p.Taken(v)
		if taken == None || kind != None && taken != kind {
			return None
		}
		if flow := p.Follow(v); flow.Escapes || len(flow.Releases)+len(flow.Defers)+len(flow.Handed) > 0 {
			return None
		}
		kind = taken
	}
	return kind
}

// sourceOr returns the Source of v, or v.
func sourceOr(v ssa.Value) ssa.Value {
	if source := Source(v); source != nil {
		return source
	}
	return v
}

// Taken returns the kind of reference that the value is if it is the result of a call
// that takes one: Acquire, Retain, Own or OpenReader. Otherwise it returns None.
func (p *Program) Taken(v ssa.Value) Kind {
	result := 0
	if extract, ok := v.(*ssa.Extract); ok {
		v, result = extract.Tuple, extract.Index
	}
	call, ok := v.(*ssa.Call)
	if !ok {
		return None
	}
	switch kind := KindOf(call.Common()); kind {
	case Acquire, Retain, Own, OpenReader:
		if result == 0 {
			return kind
		}
		return None
	case None:
	default:
		return None
	}
	if f := declared(call.Common()); f != nil {
		if s, known := p.summary(f); known && s.Result == result+1 {
			return s.Kind
		}
	}
	return None
}

// Joined returns the kind of reference that a variable has where its values join, if each
// is one, or None.
func (p *Program) Joined(v *ssa.Phi) (kind Kind) {
	for _, edge := range v.Edges {
		if edge == ssa.Value(v) || isNil(edge) {
			continue
		}
		taken := p.Taken(edge)
		if taken == None || kind != None && taken != kind {
			return None
		}
		kind = taken
	}
	return kind
}
