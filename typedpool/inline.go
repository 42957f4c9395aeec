package typedpool

import "sync"

// Get and Put of a Pool must inline, or the typed pool is slower than the untyped
// one. The compiler inlines functions up to a cost of 80. A call that cannot
// inline costs 57, so Put, which has two, would not fit; a call of a parameter
// costs 17. The functions of this file therefore call their first parameter.
// Once inlined, calls of poolGet and poolPut become direct calls of the
// sync.Pool, and no code of this file is left. TestGetAndPutInline checks it.

func get(f func(*sync.Pool) any, p *sync.Pool) any { return f(p) }

func put(f func(*sync.Pool, any), p *sync.Pool, x any) { f(p, x) }

func ask[T any](f func(*T) bool, x *T) bool { return f(x) }

func poolGet(p *sync.Pool) any { return p.Get() }

func poolPut(p *sync.Pool, x any) { p.Put(x) }
