package misuse

import (
	"go/token"
	"go/types"
	"slices"

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
					if (flow.Sure[second] || isRelease(second)) && (flow.Sure[first] || isRelease(first)) && refs.Dominates(first, second) {
						fn.report(second.Pos(), "%s of an object that the call in line %d releases, too", name(second.(ssa.CallInstruction)), fn.line(first.Pos()))
					}
				}
			}
			for _, handed := range flow.Handed {
				for _, end := range ends {
					if isRelease(end) && (refs.Dominates(end, handed) || refs.Dominates(handed, end)) {
						fn.report(handed.Pos(), "a goroutine releases an object that the call in line %d releases, too", fn.line(end.Pos()))
					}
				}
			}
			var taken *ssa.BasicBlock
			if in, ok := v.(ssa.Instruction); ok {
				taken = in.Block()
			}
			for _, first := range flow.Releases {
				if !isRelease(first) {
					continue
				}
				if refs.Repeats(first, taken) {
					fn.report(first.Pos(), "a loop releases an object that was taken once again and again")
				}
				for _, second := range flow.Releases {
					if isRelease(second) && first.Block() != second.Block() && refs.Leads(first, second, taken) {
						fn.report(second.Pos(), "%s of an object that the call in line %d has released on one of the ways to it", name(second.(ssa.CallInstruction)), fn.line(first.Pos()))
					}
				}
			}
		}
	})

// UseAfterRelease reports a use of an object, or of a slice or map from it, after its
// Release.
var UseAfterRelease = analyzer("useafterrelease",
	"report a use of an object, or of a slice or map out of it, after the object was released",
	func(fn *function) {
		for v, flow := range fn.released(refs.Release) {
			fn.usesAfter(flow, refs.Release, "is used after its Release in line %d")
			fn.returned(v, flow)
			fn.usedByGoroutines(flow)
			fn.partsAfter(flow, isContainer, func(t types.Type) string { return "a " + kindOf(t) + " out of an object" })
		}
		fn.usesAfterReader()
		for retain, object := range fn.called(refs.Retain) {
			if refs.Source(object) == nil {
				continue
			}
			flow := fn.program.Follow(refs.Source(object))
			for _, end := range flow.Releases {
				if len(flow.Retains) == 1 && !flow.Merged && isRelease(end) && refs.Dominates(end, retain) {
					fn.report(retain.Pos(), "Retain of an object after its Release in line %d", fn.line(end.Pos()))
				}
			}
		}
	})

// PublishedUse reports a use of an object after Update has published it.
var PublishedUse = analyzer("publisheduse",
	"report a use or a Release of an object that Update has published: it is the container's, and readers have it",
	func(fn *function) {
		for v, flow := range fn.released(refs.Update) {
			fn.usesAfter(flow, refs.Update, "is used after the Update in line %d published it: it is the container's")
			for _, update := range flow.Releases {
				if !isKind(update, refs.Update) {
					continue
				}
				if taken, ok := v.(ssa.Instruction); ok && refs.Repeats(update, taken.Block()) {
					fn.report(update.Pos(), "a loop publishes an object again and again")
				}
				for _, again := range flow.Releases {
					if (isKind(again, refs.Release) || isKind(again, refs.Update)) && refs.Dominates(update, again) {
						fn.report(again.Pos(), "%s of an object that the Update in line %d published: it is the container's", name(again.(ssa.CallInstruction)), fn.line(update.Pos()))
					}
				}
				for _, release := range flow.Defers {
					if isKind(release, refs.Release) && (refs.Dominates(release, update) || refs.Dominates(update, release)) {
						fn.report(release.Pos(), "deferred Release of an object that the Update in line %d publishes: it is the container's then", fn.line(update.Pos()))
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
			return len(flow.Retains) > 0 || flow.Merged || yield(v, flow)
		}
		for _, object := range fn.called(kind) {
			if joined, ok := object.(*ssa.Phi); ok && !seen[joined] {
				seen[joined] = true
				if flow := fn.program.FollowAlone(joined); len(flow.Retains) == 0 && !flow.Merged && !yield(joined, flow) {
					return
				}
			}
			if !look(refs.Source(object)) {
				return
			}
		}
		for r := range fn.taken { // a function of the program may release it
			if !look(r.value) {
				return
			}
		}
		for _, parameter := range fn.f.Params {
			if isPointer(parameter) && !look(parameter) {
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

// usedByGoroutines reports goroutines that may use the object when it was released.
func (fn *function) usedByGoroutines(flow *refs.Flow) {
	for _, use := range flow.Uses {
		_, isGo := use.(*ssa.Go)
		if !isGo && started(use) == nil || waitsAfter(use) {
			continue
		}
		for _, end := range flow.Defers {
			if isRelease(end) && (refs.Dominates(end, use) || refs.Dominates(use, end)) {
				fn.report(use.Pos(), "a goroutine has an object that the deferred Release in line %d gives back when the function returns (Retain it)", fn.line(end.Pos()))
			}
		}
		for _, end := range flow.Releases {
			if isRelease(end) && refs.Dominates(use, end) {
				fn.report(use.Pos(), "a goroutine has an object that is released in line %d (Retain it)", fn.line(end.Pos()))
			}
		}
	}
}

// returned reports that the function returns an object that it took and released.
func (fn *function) returned(v ssa.Value, flow *refs.Flow) {
	if _, isParameter := v.(*ssa.Parameter); isParameter {
		return
	}
	for _, use := range flow.Uses {
		_, isReturn := use.(*ssa.Return)
		store, isStore := use.(*ssa.Store)
		if isStore { // of a literal that uses it, to the result
			_, isReturn = store.Val.(*ssa.MakeClosure)
		}
		if !isReturn {
			continue
		}
		for _, end := range append(flow.Releases[:len(flow.Releases):len(flow.Releases)], flow.Defers...) {
			if isRelease(end) && refs.Dominates(end, use) {
				fn.report(use.Pos(), "an object is returned after its Release in line %d", fn.line(end.Pos()))
			}
		}
	}
}

// partsAfter reports the uses of parts of the object v after its Release, and parts that
// are returned or stored although a deferred Release runs before anybody uses them.
func (fn *function) partsAfter(flow *refs.Flow, wanted func(types.Type) bool, what func(types.Type) string) {
	for _, part := range refs.Parts(flow, wanted) {
		fn.partUses(flow, part, what(part.Type()), "")
	}
}

// partUses reports what partsAfter does, of one part.
func (fn *function) partUses(flow *refs.Flow, part ssa.Value, what, hint string) {
	if in, ok := part.(ssa.Instruction); ok && slices.ContainsFunc(flow.Releases, func(end ssa.Instruction) bool { return refs.Dominates(end, in) }) {
		return // that it is made is a use
	}
	for _, use := range *part.Referrers() {
		if use.Parent() != fn.f {
			continue
		}
		for _, end := range flow.Defers {
			switch {
			case !ends(end) || !refs.Dominates(end, use):
			case refs.Returns(use, part) || refs.ReturnsAppended(use) || refs.ReturnsMap(use, part):
				fn.report(posOf(use), "%s is returned, and the deferred %s in line %d runs before the caller has it%s", what, name(end.(ssa.CallInstruction)), fn.line(end.Pos()), hint)
			case isStored(use, part):
				fn.report(posOf(use), "%s is stored beyond the deferred %s in line %d%s", what, name(end.(ssa.CallInstruction)), fn.line(end.Pos()), hint)
			}
		}
		for _, end := range flow.Releases {
			switch {
			case !ends(end):
			case refs.Dominates(end, use) && refs.Reads(use):
				fn.report(posOf(use), "%s is used after the %s of its object in line %d%s", what, name(end.(ssa.CallInstruction)), fn.line(end.Pos()), hint)
			case refs.Dominates(use, end) && isStored(use, part):
				fn.report(posOf(use), "%s is stored beyond the %s in line %d%s", what, name(end.(ssa.CallInstruction)), fn.line(end.Pos()), hint)
			}
		}
	}
}

// ends reports whether parts of an object are not valid any more after the instruction.
func ends(in ssa.Instruction) bool {
	return isRelease(in) || isKind(in, refs.CloseReader) || isKind(in, refs.Load)
}

// posOf returns the position of an instruction, or of the next in its block that has one:
// a conversion has none, and the call that it is for does.
func posOf(in ssa.Instruction) token.Pos {
	behind := false
	for _, next := range in.Block().Instrs {
		if behind = behind || next == in; behind && next.Pos().IsValid() {
			return next.Pos()
		}
	}
	return token.NoPos
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
func isContainer(t types.Type) bool { return kindOf(t) == "slice" || kindOf(t) == "map" }

func kindOf(t types.Type) string {
	switch t.Underlying().(type) {
	case *types.Slice:
		return "slice"
	case *types.Map:
		return "map"
	case *types.Pointer:
		return "pointer"
	}
	return ""
}
