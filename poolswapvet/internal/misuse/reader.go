package misuse

import (
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
	for in := range fn.instructions {
		start, ok := in.(*ssa.Go)
		if !ok || !loadsFrom(start, variable) {
			continue
		}
		if again := inLoop(start.Block(), made.Block()); again && !waits(start.Block(), made.Block()) {
			fn.report(start.Pos(), "goroutines that are started in a loop share the Reader of line %d: each needs one of its own", fn.line(made.Pos()))
		}
	}
}

// loadsFrom reports whether the goroutine calls Load of the Reader.
func loadsFrom(start *ssa.Go, reader ssa.Value) bool {
	if made, ok := start.Call.Value.(*ssa.MakeClosure); ok {
		at := slices.Index(made.Bindings, reader)
		return at >= 0 && loaded(made.Fn.(*ssa.Function).FreeVars[at])
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

// inLoop reports whether the block can run again without that of outside.
func inLoop(block, outside *ssa.BasicBlock) bool {
	return slices.Contains(around(block, outside), block)
}

// around returns the blocks that can follow, without running through that of outside.
func around(block, outside *ssa.BasicBlock) (found []*ssa.BasicBlock) {
	for todo := []*ssa.BasicBlock{block}; len(todo) > 0; todo = todo[1:] {
		for _, next := range todo[0].Succs {
			if next != outside && !slices.Contains(found, next) {
				found = append(found, next)
				todo = append(todo, next)
			}
		}
	}
	return found
}

// waits reports whether the loop around the block waits for something: perhaps for the
// goroutine to end.
func waits(block, outside *ssa.BasicBlock) bool {
	for _, b := range around(block, outside) {
		if !slices.Contains(around(b, outside), block) {
			continue // behind the loop
		}
		for _, in := range b.Instrs {
			switch in := in.(type) {
			case *ssa.Select:
				return true
			case *ssa.UnOp:
				if in.Op.String() == "<-" {
					return true
				}
			case *ssa.Call:
				if n := name(in); n == "Wait" || n == "Lock" || n == "Acquire" {
					return true
				}
			}
		}
	}
	return false
}
