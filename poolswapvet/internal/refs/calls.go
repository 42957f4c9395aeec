package refs

import (
	"go/types"

	"golang.org/x/tools/go/ssa"
)

// Kind is what a call does to references.
type Kind int

// The calls of the library that take, give back or pass on references.
const (
	None        Kind = iota
	Acquire          // the result is a reference: to be released
	Retain           // the argument has one reference more, and is the result
	Own              // the result belongs to the caller: to be published or released
	OpenReader       // the result is a Reader: to be closed or parked
	Release          // gives back the reference that is the argument
	Update           // publishes the argument, which is the container's then
	CloseReader      // gives back what the receiver holds
	Load             // the result is the Reader's
	Lend             // calls its argument, a function, with objects that it may not keep
)

// methods are those of the library by type and name.
var methods = map[string]map[string]Kind{
	"Container": {
		"Acquire": Acquire, "Retain": Retain, "GetNew": Own, "NewReader": OpenReader, "Release": Release,
		"Update": Update, "WithAcquire": Lend, "Publish": Lend,
	},
	"Pool":   {"Get": Own, "TryGet": Own, "Release": Release},
	"Reader": {"Load": Load, "Park": CloseReader, "Close": CloseReader},
}

// KindOf returns what the call does, by itself.
func KindOf(call *ssa.CallCommon) Kind {
	f := call.StaticCallee()
	if f == nil {
		return None
	}
	return methodKind(f)
}

func methodKind(f *ssa.Function) Kind {
	if origin := f.Origin(); origin != nil {
		f = origin
	}
	named := receiver(f)
	if named == nil || named.Obj().Pkg() == nil || named.Obj().Pkg().Path() != Library {
		return None
	}
	return methods[named.Obj().Name()][f.Name()]
}

// receiver returns the type whose method f is, or nil.
func receiver(f *ssa.Function) *types.Named {
	recv := f.Signature.Recv()
	if recv == nil {
		return nil
	}
	t := recv.Type()
	if pointer, ok := t.(*types.Pointer); ok {
		t = pointer.Elem()
	}
	named, _ := types.Unalias(t).(*types.Named)
	return named
}

// Subject returns the argument of a call of the library that the Kind is about, or nil.
func Subject(call *ssa.CallCommon, kind Kind) ssa.Value {
	switch kind {
	case Release, Update, Retain:
		return call.Args[1]
	case CloseReader, Load:
		return call.Args[0]
	}
	return nil
}

// declared returns the function that a call calls if it has a name, or nil.
func declared(call *ssa.CallCommon) *types.Func {
	f := call.StaticCallee()
	if f == nil {
		return nil
	}
	if origin := f.Origin(); origin != nil {
		f = origin
	}
	named, _ := f.Object().(*types.Func)
	return named
}
