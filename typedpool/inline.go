package typedpool

import "sync"

// Get and Put of a Pool must inline into their callers, or the typed pool is
// slower than the untyped one. A function inlines up to a cost of 80. A call
// that cannot inline costs 57, so two do not fit, and one hardly leaves room for
// the rest; a call of a parameter costs 17, in the hope that the argument will
// be known. The functions of this file call their first parameter. Where the
// argument is a function known by name, poolGet or poolPut, the call turns into
// a direct call of it, and that into a direct call of the sync.Pool: nothing of
// this file is left in the machine code. TestGetAndPutInline looks.

func get(f func(*sync.Pool) any, p *sync.Pool) any { return f(p) }

func put(f func(*sync.Pool, any), p *sync.Pool, x any) { f(p, x) }

func ask[T any](f func(*T) bool, x *T) bool { return f(x) }

func poolGet(p *sync.Pool) any { return p.Get() }

func poolPut(p *sync.Pool, x any) { p.Put(x) }
