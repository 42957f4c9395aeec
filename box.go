package poolswap

// Box makes any value poolable: use it for a type that you cannot embed a [Ref]
// in.
//
//	pool := poolswap.NewPool(
//		func() *poolswap.Box[bytes.Buffer] { return new(poolswap.Box[bytes.Buffer]) },
//		func(b *poolswap.Box[bytes.Buffer]) bool { b.Value.Reset(); return true },
//	)
//
// A Box is an object as any other.
type Box[T any] struct {
	Ref
	Value T
}
