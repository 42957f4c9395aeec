package misuse

import (
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/poolswap/poolswap/poolswapvet/internal/refs"
)

// ReaderShare reports a Reader that several goroutines load from.
var ReaderShare = analyzer("readershare",
	"report a Reader that goroutines of a loop share, or a goroutine and its starter: a Reader belongs to one goroutine",
	func(fn *function) {
		for r := range fn.taken {
			if r.kind == refs.OpenReader {
				fn.shared(r.value, r.call)
			}
		}
		if !isHandler(fn.f.Signature) {
			return
		}
		for load, reader := range fn.called(refs.Load) {
			if v, ok := reader.(*ssa.UnOp); ok && outlivesBase(v.X) {
				fn.report(load.Pos(), "a handler loads from a Reader that requests share: each goroutine needs one of its own")
			}
		}
	})

// shared reports go statements whose goroutine loads from the Reader beside another.
func (fn *function) shared(reader ssa.Value, made *ssa.Call) {
	variable := reader
	for _, use := range *reader.Referrers() {
		if store, ok := use.(*ssa.Store); ok && store.Val == reader {
			if alloc, ok := store.Addr.(*ssa.Alloc); ok {
				variable = alloc
			}
		}
	}
	var before ssa.Instruction
	for in := range fn.instructions {
		start, ok := in.(ssa.CallInstruction)
		if before != nil && isWait(in) {
			before = nil
		}
		if !ok || !loadsFrom(start, variable) || takesTurns(start) {
			continue
		}
		if before != nil && before.Block() == start.Block() {
			fn.report(start.Pos(), "a goroutine shares the Reader of line %d with that of line %d: each needs one of its own", fn.line(made.Pos()), fn.line(before.Pos()))
		}
		before = start
		if fn.loadsAfter(start, reader) && !waitsIn(fn.f) {
			fn.report(start.Pos(), "a goroutine and its starter share the Reader of line %d: each needs one of its own", fn.line(made.Pos()))
		}
		if again := refs.InLoop(start.Block(), made.Block()); again && !waits(start.Block(), made.Block()) {
			fn.report(start.Pos(), "goroutines that are started in a loop share the Reader of line %d: each needs one of its own", fn.line(made.Pos()))
		}
	}
}

// isHandler reports whether the signature is that of an HTTP handler, which runs in many
// goroutines.
func isHandler(s *types.Signature) bool {
	return s.Params().Len() == 2 && s.Params().At(0).Type().String() == "net/http.ResponseWriter" && s.Params().At(1).Type().String() == "*net/http.Request"
}

// started returns the function literal that the instruction starts as a goroutine, by go or
// by a method Go, or nil.
func started(in ssa.Instruction) *ssa.MakeClosure {
	var literal ssa.Value
	switch call := in.(type) {
	case *ssa.Go:
		literal = call.Call.Value
	case *ssa.Call:
		if f := call.Call.StaticCallee(); f != nil && (f.Name() == "Go" || f.Name() == "AfterFunc") && len(call.Call.Args) == 2 {
			literal = call.Call.Args[1]
		}
	}
	made, _ := literal.(*ssa.MakeClosure)
	return made
}

// loadsAfter reports whether the function itself loads from the Reader after it has
// started the goroutine.
func (fn *function) loadsAfter(start ssa.Instruction, reader ssa.Value) bool {
	for load, from := range fn.called(refs.Load) {
		if refs.Source(from) == reader && refs.Dominates(start, load) {
			return true
		}
	}
	return false
}

// loadsFrom reports whether the goroutine calls Load of the Reader.
func loadsFrom(call ssa.CallInstruction, reader ssa.Value) bool {
	if made := started(call); made != nil {
		at := slices.Index(made.Bindings, reader)
		return at >= 0 && loaded(made.Fn.(*ssa.Function).FreeVars[at])
	}
	start, ok := call.(*ssa.Go)
	if !ok {
		return false
	}
	f := start.Call.StaticCallee()
	at := slices.IndexFunc(start.Call.Args, func(a ssa.Value) bool {
		load, ok := a.(*ssa.UnOp)
		return a == reader || ok && load.X == reader
	})
	return f != nil && at >= 0 && at < len(f.Params) && loaded(f.Params[at])
}

// loaded reports whether Load is called on v, or on what the variable v holds.
func loaded(v ssa.Value) bool {
	for _, use := range *v.Referrers() {
		if isKind(use, refs.Load) {
			return true
		}
		if load, ok := use.(*ssa.UnOp); ok && loaded(load) {
			return true
		}
	}
	return false
}
