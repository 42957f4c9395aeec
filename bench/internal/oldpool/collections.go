package oldpool

import (
	"runtime"
	"weak"
)

// collected is called after each garbage collection.
type collected interface{ Collected() }

// afterEach calls p.Collected after each garbage collection for as long as p
// exists.
func afterEach[T any, P interface {
	*T
	collected
}](p P) {
	arm[T, P](weak.Make((*T)(p)))
}

// sentinel is garbage from the start: that it is collected shows that there was
// a collection. It has a pointer so that it does not share its memory with
// other small objects, which could keep it alive.
type sentinel struct{ _ *byte }

func arm[T any, P interface {
	*T
	collected
}](pool weak.Pointer[T]) {
	runtime.AddCleanup(new(sentinel), func(pool weak.Pointer[T]) {
		if p := pool.Value(); p != nil {
			arm[T, P](pool)
			P(p).Collected()
		}
	}, pool)
}
