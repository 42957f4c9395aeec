package misuse

import (
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/poolswap/poolswap/poolswapvet/internal/refs"
)

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
		if slices.ContainsFunc(b.Instrs, isWait) {
			return true
		}
	}
	return false
}

// waitsIn reports whether the function waits for something.
func waitsIn(f *ssa.Function) bool {
	return slices.ContainsFunc(f.Blocks, func(b *ssa.BasicBlock) bool { return slices.ContainsFunc(b.Instrs, isWait) })
}

// waitsAfter reports whether the function may wait for something once it has run the
// instruction, or when it returns.
func waitsAfter(start ssa.Instruction) bool {
	after := around(start.Block(), nil)
	if !slices.ContainsFunc(append(after, start.Block()), returns) {
		return true // for ever
	}
	for _, block := range start.Parent().Blocks {
		behind := slices.Contains(after, block)
		for _, in := range block.Instrs {
			_, isDefer := in.(*ssa.Defer)
			if behind = behind || in == start; (behind || isDefer) && mayWait(in) {
				return true
			}
		}
	}
	return false
}

func returns(b *ssa.BasicBlock) bool {
	_, ok := b.Instrs[len(b.Instrs)-1].(*ssa.Return)
	return ok
}

// mayWait reports whether the instruction waits, or is a call that might: of a function
// that is not known, that is passed something to wait for, or that waits itself.
func mayWait(in ssa.Instruction) bool { return mayWaitIn(in, 4) }

// mayWaitIn is mayWait for calls within that many others.
func mayWaitIn(in ssa.Instruction, calls int) bool {
	call, ok := in.(ssa.CallInstruction)
	if !ok {
		return isWait(in)
	}
	if _, isGo := in.(*ssa.Go); isGo || started(in) != nil || refs.KindOf(call.Common()) != refs.None {
		return false
	}
	if _, isBuiltin := call.Common().Value.(*ssa.Builtin); isBuiltin {
		return false
	}
	f := call.Common().StaticCallee()
	if f == nil || isWait(in) || slices.ContainsFunc(call.Common().Args, awaits) {
		return true
	}
	if f.Blocks == nil {
		return !returnsSoon(f)
	}
	return calls == 0 || slices.ContainsFunc(f.Blocks, func(b *ssa.BasicBlock) bool {
		return slices.ContainsFunc(b.Instrs, func(in ssa.Instruction) bool { return mayWaitIn(in, calls-1) })
	})
}

// awaits reports whether a function can wait for the value.
func awaits(v ssa.Value) bool {
	switch v.Type().Underlying().(type) {
	case *types.Chan, *types.Signature:
		return true
	}
	return strings.Contains(v.Type().String(), "sync.") || strings.Contains(v.Type().String(), "errgroup.")
}

// returnsSoon reports whether a function of another package waits for no goroutine: one of
// the library, or one that is known for it.
func returnsSoon(f *ssa.Function) bool {
	if origin := f.Origin(); origin != nil {
		f = origin
	}
	named, ok := f.Object().(*types.Func)
	if !ok || named.Pkg() == nil {
		return false
	}
	first, _, _ := strings.Cut(named.Pkg().Path(), "/")
	return slices.Contains(soon, first) && f.Name() != "Sleep" || named.Pkg().Path() == refs.Library && f.Name() != "Close"
}

// soon are packages whose functions wait for no goroutine.
var soon = []string{"bytes", "cmp", "encoding", "errors", "fmt", "hash", "log", "maps", "math", "slices", "sort", "strconv", "strings", "time", "unicode"}

// takesTurns reports whether the goroutine that the call starts holds a lock while it loads
// from a Reader, and parks it then.
func takesTurns(start ssa.CallInstruction) bool {
	f := start.Common().StaticCallee()
	if made := started(start); made != nil {
		f = made.Fn.(*ssa.Function)
	}
	locks, parks := false, false
	for _, block := range f.Blocks {
		for _, in := range block.Instrs {
			locks, parks = locks || isWait(in), parks || isKind(in, refs.CloseReader)
		}
	}
	return locks && parks
}

func isWait(in ssa.Instruction) bool {
	switch in := in.(type) {
	case *ssa.Select:
		return true
	case *ssa.UnOp:
		return in.Op == token.ARROW
	case *ssa.Call, *ssa.Defer:
		n := name(in.(ssa.CallInstruction))
		return n == "Wait" || n == "Lock" || n == "Acquire"
	}
	return false
}
