package misuse

import (
	"go/types"

	"golang.org/x/tools/go/ssa"

	"github.com/poolswap/poolswap/poolswapvet/internal/refs"
)

// DoubleRelease reports a second Release of one reference.
var DoubleRelease = analyzer("doublerelease",
	"report an object that is released although a Release of it has run, or will run when the function returns",
	func(fn *function) {
		for v, flow := range fn.released(refs.Release) {
			ends := append(flow.Releases[:len(flow.Releases):len(flow.Releases)], flow.Defers...)
			for _, first := range ends {
				for _, second := range ends {
					if isRelease(second) && isRelease(first) && refs.Dominates(first, second) {
						fn.report(second.Pos(), "%s of an object that the call in line %d releases, too", name(second.(ssa.CallInstruction)), fn.line(first.Pos()))
					}
				}
			}
			_ = v
		}
	})

// UseAfterRelease reports a use of an object, or of a slice or map from it, after its
// Release.
var UseAfterRelease = analyzer("useafterrelease",
	"report a use of an object, or of a slice or map out of it, after the object was released",
	func(fn *function) {
		for v, flow := range fn.released(refs.Release) {
			fn.usesAfter(flow, refs.Release, "is used after its Release in line %d")
			fn.partsAfter(v, flow, isContainer, func(t types.Type) string { return "a " + kindOf(t) + " out of an object" })
		}
	})

// PublishedUse reports a use of an object after Update has published it.
var PublishedUse = analyzer("publisheduse",
	"report a use or a Release of an object that Update has published: it is the container's, and readers have it",
	func(fn *function) {
		for _, flow := range fn.released(refs.Update) {
			fn.usesAfter(flow, refs.Update, "is used after the Update in line %d published it: it is the container's")
			for _, update := range flow.Releases {
				for _, release := range flow.Releases {
					if isKind(update, refs.Update) && isKind(release, refs.Release) && refs.Dominates(update, release) {
						fn.report(release.Pos(), "Release of an object that the Update in line %d published: it is the container's", fn.line(update.Pos()))
					}
				}
			}
		}
	})

// released yields the flow of each object of the function that a call of that kind ends,
// unless it may be several references, or another object.
func (fn *function) released(kind refs.Kind) func(yield func(ssa.Value, *refs.Flow) bool) {
	return func(yield func(ssa.Value, *refs.Flow) bool) {
		seen := map[ssa.Value]bool{nil: true}
		look := func(v ssa.Value) bool {
			if seen[v] {
				return true
			}
			seen[v] = true
			flow := fn.program.Follow(v)
			return flow.Retained || flow.Merged || yield(v, flow)
		}
		for _, object := range fn.called(kind) {
			if !look(refs.Source(object)) {
				return
			}
		}
		for r := range fn.taken { // a function of the program may release it
			if !look(r.value) {
				return
			}
		}
	}
}

// usesAfter reports the uses that a call of that kind dominates.
func (fn *function) usesAfter(flow *refs.Flow, kind refs.Kind, format string) {
	for _, end := range flow.Releases {
		if kind == refs.Release && !isRelease(end) || kind != refs.Release && !isKind(end, kind) {
			continue
		}
		for _, use := range flow.Uses {
			if _, isReturn := use.(*ssa.Return); !isReturn && refs.Dominates(end, use) && use.Pos().IsValid() {
				fn.report(use.Pos(), "an object "+format, fn.line(end.Pos()))
			}
		}
	}
}

// partsAfter reports the uses of parts of the object v after its Release, and a part that
// is returned although a deferred Release runs before the caller has it.
func (fn *function) partsAfter(v ssa.Value, flow *refs.Flow, wanted func(types.Type) bool, what func(types.Type) string) {
	for _, part := range refs.Parts(flow, wanted) {
		for _, use := range *part.Referrers() {
			for _, end := range flow.Defers {
				if isRelease(end) && refs.Returns(use, part) && refs.Dominates(end, use) {
					fn.report(use.Pos(), "%s is returned, and the deferred Release in line %d runs before the caller has it", what(part.Type()), fn.line(end.Pos()))
				}
			}
			for _, end := range flow.Releases {
				if isRelease(end) && refs.Dominates(end, use) && refs.Reads(use) && use.Pos().IsValid() {
					fn.report(use.Pos(), "%s is used after the Release of the object in line %d", what(part.Type()), fn.line(end.Pos()))
				}
			}
		}
	}
}

func isKind(in ssa.Instruction, kind refs.Kind) bool {
	call, ok := in.(ssa.CallInstruction)
	return ok && refs.KindOf(call.Common()) == kind
}

// isRelease reports whether the instruction releases, by itself or through a function.
func isRelease(in ssa.Instruction) bool {
	call, ok := in.(ssa.CallInstruction)
	if !ok {
		return false
	}
	_, isLiteral := call.Common().Value.(*ssa.MakeClosure) // its release may depend on a condition
	return !isLiteral && !call.Common().IsInvoke() && refs.KindOf(call.Common()) != refs.Update && refs.KindOf(call.Common()) != refs.CloseReader
}

// isContainer reports whether a value of the type shares memory that reset recycles.
func isContainer(t types.Type) bool { return kindOf(t) != "" }

func kindOf(t types.Type) string {
	switch t.Underlying().(type) {
	case *types.Slice:
		return "slice"
	case *types.Map:
		return "map"
	}
	return ""
}
