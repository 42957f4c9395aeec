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
	Sequence         // the result is a function that lends like that
	Look             // looks at an object that is held
	Compare          // looks at the address alone
)

// calls are those of the library, and in a trial of others, by package, and by type and
// name.
var calls = map[string]map[string]Kind{Library: {
	"Container.Acquire": Acquire, "Container.Retain": Retain, "Container.Release": Release, "Container.Update": Update,
	"Container.GetNew": Own, "Container.NewReader": OpenReader, "Container.WithAcquire": Lend, "Container.Publish": Lend, "Container.Versions": Sequence,
	"Pool.Get": Own, "Pool.TryGet": Own, "Pool.Release": Release,
	"Container.VersionOf": Look, "Pool.Refs": Compare,
	"Reader.Load": Load, "Reader.Park": CloseReader, "Reader.Close": CloseReader,
}}

// KindOf returns what the call does, by itself.
func KindOf(call *ssa.CallCommon) Kind {
	f := call.StaticCallee()
	if f == nil {
		return None
	}
	if origin := f.Origin(); origin != nil {
		f = origin
	}
	named, ok := f.Object().(*types.Func)
	if !ok || named.Pkg() == nil {
		return None
	}
	name := f.Name()
	if t := receiver(f); t != nil {
		name = t.Obj().Name() + "." + name
	}
	return calls[named.Pkg().Path()][name]
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
	case Release, Update, Retain, Look, Compare: // behind the container, or the receiver itself
		return call.Args[len(call.Args)-1]
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
