package refs

import (
	"go/constant"
	"go/token"
	"go/types"
	"maps"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"
)

// state is what a path has decided: conditions by key, and how values compare with
// constants.
type state struct {
	decided  map[string]bool
	facts    map[string][]fact
	same     map[string]string // the keys of the values of variables
	deferred []ssa.Instruction // literals that give the reference back, perhaps
}

// fact says how a value compares with a constant.
type fact struct {
	op token.Token
	c  constant.Value
}

func newState() state {
	return state{decided: map[string]bool{}, facts: map[string][]fact{}, same: map[string]string{}}
}

func (s state) clone() state {
	return state{maps.Clone(s.decided), maps.Clone(s.facts), maps.Clone(s.same), s.deferred}
}

// forget deletes what is known of values with that key in theirs.
func (s state) forget(name string) {
	maps.DeleteFunc(s.decided, func(k string, _ bool) bool { return strings.Contains(k, name) })
	maps.DeleteFunc(s.facts, func(k string, _ []fact) bool { return strings.Contains(k, name) })
	maps.DeleteFunc(s.same, func(k, v string) bool { return strings.Contains(k, name) || strings.Contains(v, name) })
}

// set makes known of a name what a state knows of the value that it has now.
func (s state) set(name string, v ssa.Value, known state, f *Flow) {
	value := known.known(key(v, f))
	if facts, ok := known.facts[value]; ok {
		s.facts[name] = facts
	}
	for _, about := range []string{"", "!=nil"} {
		if decided, ok := known.decided[known.known(key(v, f)+about)]; ok {
			s.decided[name+about] = decided
		} else if decided, ok := known.decided[value+about]; ok {
			s.decided[name+about] = decided
		}
	}
	if number := known.constantOf(v, f); number != nil {
		s.facts[name] = []fact{{token.EQL, number}}
		return
	}
	c, isConst := v.(*ssa.Const)
	switch {
	case f.Is(v):
	case isNil(v) || isSet(v):
		s.decided[name+"!=nil"] = isSet(v)
	case isConst && c.Value != nil && c.Value.Kind() == constant.Bool:
		s.decided[name] = constant.BoolVal(c.Value)
	case !isConst && !strings.Contains(value, name):
		s.same[name] = value
	}
}

// assume adds that a condition has a value. It reports whether that can be, and whether
// it was known before.
func (s state) assume(cond ssa.Value, value bool, f *Flow) (possible, known bool) {
	switch v := cond.(type) {
	case *ssa.UnOp:
		if v.Op == token.NOT {
			return s.assume(v.X, !value, f)
		}
	case *ssa.Const:
		return constant.BoolVal(v.Value) == value, true
	case *ssa.BinOp:
		if comparison(v.Op) {
			return s.compare(v.Op, v.X, v.Y, value, f)
		}
	}
	return s.decide(key(cond, f), value)
}

func (s state) decide(name string, value bool) (possible, known bool) {
	same := s.known(name)
	for _, name := range []string{name, same} {
		if decided, ok := s.decided[name]; ok {
			return decided == value, true
		}
	}
	s.decided[name], s.decided[same] = value, value
	return true, false
}

func (s state) compare(op token.Token, x, y ssa.Value, value bool, f *Flow) (possible, known bool) {
	if _, isConst := x.(*ssa.Const); isConst {
		op, x, y = mirror(op), y, x
	}
	if !value {
		op = opposite(op)
	}
	c := s.constantOf(y, f)
	if c == nil && s.constantOf(x, f) != nil {
		op, x, y = mirror(op), y, x
		c = s.constantOf(y, f)
	}
	switch {
	case isNil(y) && (f.Is(x) || isSet(x)): // a nil is no reference
		return op == token.NEQ, true
	case isNil(y):
		return s.decide(s.known(key(x, f))+"!=nil", op == token.NEQ)
	case c != nil:
		return s.with(x, fact{op, c}, f)
	}
	if op == token.EQL && (f.stands(x) || f.stands(y)) {
		s.decided[key(x, f)+"!=nil"], s.decided[key(y, f)+"!=nil"] = true, true
	}
	switch op {
	case token.NEQ, token.GEQ:
		op, value = opposite(op), false
	case token.GTR:
		op, x, y, value = token.LSS, y, x, true
	case token.LEQ:
		op, x, y, value = token.LSS, y, x, false
	default:
		value = true
	}
	return s.decide(key(x, f)+op.String()+key(y, f), value)
}

// stands reports whether a value is what a function has for the reference: it is compared
// with others in its place.
func (f *Flow) stands(v ssa.Value) bool {
	call, ok := v.(*ssa.Call)
	return ok && isPointer(v.Type()) && slices.ContainsFunc(call.Call.Args, f.Is)
}

// with adds that a fact holds for a value. A string is empty if its length is 0.
func (s state) with(v ssa.Value, is fact, f *Flow) (possible, known bool) {
	var facts []fact
	if of := lengthOf(v); of != nil {
		facts = []fact{{token.GEQ, constant.MakeInt64(0)}}
		if isString(of.Type()) && constant.Sign(is.c) == 0 {
			switch is.op {
			case token.GTR:
				is.op = token.NEQ
			case token.LEQ:
				is.op = token.EQL
			}
			if is.op == token.EQL || is.op == token.NEQ {
				return s.with(of, fact{is.op, constant.MakeString("")}, f)
			}
		}
	} else if b, ok := v.Type().Underlying().(*types.Basic); ok && b.Info()&types.IsUnsigned != 0 {
		facts = []fact{{token.GEQ, constant.MakeInt64(0)}}
	}
	if is := s.constantOf(v, f); is != nil {
		facts = append(facts, fact{token.EQL, is})
	}
	name := s.known(key(v, f))
	facts = append(facts, s.facts[name]...)
	known = len(facts) > 0 && !satisfiable(append(slices.Clone(facts), fact{opposite(is.op), is.c}))
	s.facts[name] = append(facts, is)
	return satisfiable(s.facts[name]), known
}

// satisfiable reports whether a value can be as all the facts say.
func satisfiable(facts []fact) bool {
	for _, one := range facts {
		for _, v := range near(one.c) {
			if !slices.ContainsFunc(facts, func(f fact) bool { return !constant.Compare(v, f.op, f.c) }) {
				return true
			}
		}
	}
	return false
}

// near returns a constant and those beside it.
func near(c constant.Value) []constant.Value {
	switch c.Kind() {
	case constant.Int, constant.Float:
		one := constant.MakeInt64(1)
		return []constant.Value{constant.BinaryOp(c, token.SUB, one), c, constant.BinaryOp(c, token.ADD, one)}
	case constant.String:
		return []constant.Value{c, constant.MakeString(constant.StringVal(c) + "\uffff")}
	}
	return []constant.Value{c, constant.MakeUnknown()}
}

// lengthOf returns the value whose length v is, or nil.
func lengthOf(v ssa.Value) ssa.Value {
	if call, ok := v.(*ssa.Call); ok {
		if b, ok := call.Call.Value.(*ssa.Builtin); ok && b.Name() == "len" {
			return call.Call.Args[0]
		}
	}
	return nil
}

func comparison(op token.Token) bool {
	return op == token.EQL || op == token.NEQ || op == token.LSS || op == token.LEQ || op == token.GTR || op == token.GEQ
}

// mirror returns the operator with which y compares with x as x does with y.
func mirror(op token.Token) token.Token {
	switch op {
	case token.LSS:
		return token.GTR
	case token.LEQ:
		return token.GEQ
	case token.GTR:
		return token.LSS
	case token.GEQ:
		return token.LEQ
	}
	return op
}

// opposite returns the operator that is true where this one is false.
func opposite(op token.Token) token.Token {
	return map[token.Token]token.Token{
		token.EQL: token.NEQ, token.NEQ: token.EQL, token.LSS: token.GEQ,
		token.GEQ: token.LSS, token.GTR: token.LEQ, token.LEQ: token.GTR,
	}[op]
}

// isSet reports whether a value is never nil. Of the error in a variable of a package that
// is named like one, that is assumed.
func isSet(v ssa.Value) bool {
	switch v := v.(type) {
	case *ssa.MakeInterface, *ssa.Alloc, *ssa.MakeClosure, *ssa.Function, *ssa.MakeMap, *ssa.MakeSlice, *ssa.MakeChan, *ssa.FieldAddr, *ssa.IndexAddr:
		return true
	case *ssa.Call:
		f := declared(&v.Call)
		return f != nil && (f.FullName() == "errors.New" || f.FullName() == "fmt.Errorf")
	case *ssa.UnOp:
		global, ok := v.X.(*ssa.Global)
		return ok && v.Op == token.MUL && (strings.HasPrefix(strings.ToLower(global.Name()), "err") || global.Name() == "EOF")
	}
	return false
}
