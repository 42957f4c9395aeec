package refs

import (
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"
)

// Flow is where a reference goes within one function.
type Flow struct {
	Value ssa.Value

	// Releases are the calls that give it back or publish it, whenever they run, and
	// Defers those that do when the function returns.
	Releases, Defers []ssa.Instruction
	Uses             []ssa.Instruction  // that read or write the object, or pass it on for a call
	Handed           []ssa.Instruction  // that start a goroutine which gives it back
	Retains          []ssa.Instruction  // then it may be more than one reference
	Returned         bool               // and then it is the caller's
	Escapes          bool               // it goes where it cannot be followed
	Merged           bool               // its variable has other objects, too
	closers          []*ssa.MakeClosure // literals that give it back, and that the function returns
	accessors        []*ssa.Call        // that return a part of the object
	slabAccessors    []*ssa.Call        // that return a string of a slab in it
	moved            map[*ssa.Phi]bool  // where it is joined with others, if it is followed no further

	// literals are those that give it back, by the instructions that defer or start them,
	// and replaced the stores of other objects to its variable.
	literals map[ssa.Instruction]within
	replaced map[ssa.Instruction]bool

	// Sure are the calls of function literals that give it back however they return.
	Sure map[ssa.Instruction]bool

	aliases map[ssa.Value]bool
}

// Follow returns the flow of the reference that v is, or holds.
func (p *Program) Follow(v ssa.Value) *Flow {
	return p.follow(&Flow{Value: v, aliases: map[ssa.Value]bool{v: true}})
}

// FollowAlone is Follow up to where the variable of v can have another object.
func (p *Program) FollowAlone(v ssa.Value) *Flow {
	return p.follow(&Flow{Value: v, aliases: map[ssa.Value]bool{v: true}, moved: map[*ssa.Phi]bool{}})
}

func (p *Program) follow(f *Flow) *Flow {
	v := f.Value
	p.closed(f)
	for todo := []ssa.Value{v}; len(todo) > 0; todo = todo[1:] {
		for _, use := range *todo[0].Referrers() {
			for _, alias := range p.step(f, todo[0], use) {
				if !f.aliases[alias] {
					f.aliases[alias] = true
					todo = append(todo, alias)
				}
			}
		}
	}
	return f
}

// step notes one use of an alias, and returns the values that are the same reference.
func (p *Program) step(f *Flow, alias ssa.Value, use ssa.Instruction) []ssa.Value {
	if field, ok := isBody(use); ok {
		p.body(f, field)
		return nil
	}
	switch use := use.(type) {
	case *ssa.DebugRef, *ssa.BinOp, *ssa.Panic:
	case *ssa.ChangeType:
		return []ssa.Value{use}
	case *ssa.Phi:
		for _, edge := range use.Edges {
			if !isNil(edge) && !f.aliases[edge] && edge != ssa.Value(use) {
				if f.moved != nil {
					f.moved[use] = true
					return nil
				}
				f.Merged = true
			}
		}
		return []ssa.Value{use}
	case *ssa.FieldAddr, *ssa.UnOp, *ssa.Field:
		f.Uses = append(f.Uses, use)
	case *ssa.Store:
		if use.Val != alias {
			f.Uses = append(f.Uses, use)
			return nil
		}
		if variable, ok := use.Addr.(*ssa.Alloc); ok {
			return p.variable(f, variable)
		}
		f.Escapes = true
	case *ssa.Return:
		f.Returned = true
		f.Uses = append(f.Uses, use)
	case ssa.CallInstruction:
		p.call(f, alias, use)
	default:
		f.Escapes = true
	}
	return nil
}

// call notes that an alias is an argument of a call.
func (p *Program) call(f *Flow, alias ssa.Value, use ssa.CallInstruction) {
	call := use.Common()
	kind := KindOf(call)
	effect := unknown
	switch {
	case kind != None && Subject(call, kind) != alias:
		effect = lent
	case kind == Compare:
		return
	case kind == Retain:
		f.Retains = append(f.Retains, use)
		effect = lent
	case kind == Release || kind == Update || kind == CloseReader:
		effect = released
	case kind != None:
		effect = lent
	case call.Value != alias:
		effect = p.effect(call, alias)
	}
	if accessor, ok := use.(*ssa.Call); ok && effect == lent && kind == None {
		p.accessed(f, alias, accessor)
	}
	_, isGo := use.(*ssa.Go)
	_, isDefer := use.(*ssa.Defer)
	switch {
	case effect == unknown || isGo:
		f.Escapes = true
		if _, isBuiltin := call.Value.(*ssa.Builtin); !isBuiltin {
			f.Uses = append(f.Uses, use)
		}
	case effect == lent:
		f.Uses = append(f.Uses, use)
	case isDefer:
		f.Defers = append(f.Defers, use)
	default:
		f.Releases = append(f.Releases, use)
	}
}

// variable notes what becomes of a variable that has the reference, and returns its
// loads. A function literal that uses it shares it.
func (p *Program) variable(f *Flow, v ssa.Value) (loads []ssa.Value) {
	var replaced []ssa.Instruction
	for _, use := range *v.Referrers() {
		switch use := use.(type) {
		case *ssa.DebugRef:
		case *ssa.UnOp:
			loads = append(loads, use)
		case *ssa.Store:
			if use.Addr != v {
				f.Escapes = true
			} else if !isNil(use.Val) && !f.aliases[use.Val] {
				f.Merged = f.Merged || f.moved == nil
				replaced = append(replaced, use)
			}
		case *ssa.MakeClosure:
			p.literal(f, v, use)
		default:
			f.Escapes = true
		}
	}
	for _, store := range replaced {
		f.Merged = f.Merged || slices.ContainsFunc(loads, func(load ssa.Value) bool { return !staysIn(load.(*ssa.UnOp)) })
		if f.replaced == nil {
			f.replaced = make(map[ssa.Instruction]bool)
		}
		f.replaced[store] = true
	}
	return loads
}

func isDebug(use ssa.Instruction) bool { _, ok := use.(*ssa.DebugRef); return ok }

func isNil(v ssa.Value) bool {
	c, ok := v.(*ssa.Const)
	return ok && c.IsNil()
}

// OnlyCompared reports whether the program looks at the pointer alone: it expects a nil.
func (f *Flow) OnlyCompared() bool {
	for _, use := range *f.Value.Referrers() {
		switch use := use.(type) {
		case *ssa.DebugRef:
		case *ssa.BinOp:
			for _, result := range *use.Referrers() {
				if use.Op == token.NEQ && Returns(result, use) {
					return false // it expects an object
				}
			}
		default:
			return false
		}
	}
	return true
}

// Is reports whether v is this reference.
func (f *Flow) Is(v ssa.Value) bool { return f.aliases[v] }

// Dominates reports whether a runs before b whenever b runs.
func Dominates(a, b ssa.Instruction) bool {
	if a.Block() != b.Block() {
		return a.Block().Dominates(b.Block())
	}
	for _, in := range a.Block().Instrs {
		switch in {
		case a:
			return a != b
		case b:
			return false
		}
	}
	return false
}

// isPointer reports whether a value of this type can be a reference.
func isPointer(t types.Type) bool {
	_, ok := t.Underlying().(*types.Pointer)
	return ok
}
