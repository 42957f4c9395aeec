package typedpool

// Options say which objects a [Pool] keeps and in which state. Every field is
// optional. Put calls the functions on its own goroutine without holding a lock,
// so many goroutines may call them at the same time.
type Options[T any] struct {
	// Reset prepares an object for its next user. If it returns false, the
	// object is dropped.
	Reset func(*T) bool

	// Size returns the size of an object in any unit, including the memory
	// that it refers to, such as the capacity of its buffers. Put calls Size before Reset. It
	// drops an object larger than MaxSize without a Reset, so that one huge
	// object does not stay in the pool forever.
	Size func(*T) int

	// MaxSize is the size of the largest object to keep, in the unit of Size.
	// It must be positive if Size is set, and 0 if it is not.
	MaxSize int
}

// NewWithOptions returns a Pool like [New] with options, which it copies.
//
// NewWithOptions panics if newT is nil or if Size and MaxSize do not go together.
func NewWithOptions[T any](newT func() *T, options Options[T]) *Pool[T] {
	switch {
	case newT == nil:
		panic("typedpool: NewWithOptions with a nil function to make objects")
	case options.Size == nil && options.MaxSize != 0:
		panic("typedpool: NewWithOptions with MaxSize but no Size function (the limit would limit nothing)")
	case options.Size != nil && options.MaxSize <= 0:
		panic("typedpool: NewWithOptions with a Size function but no positive MaxSize (nothing would be kept)")
	}
	return newPool(newT, options.keep())
}

// keep returns the function that Put calls, or nil to keep every object.
func (o Options[T]) keep() func(*T) bool {
	switch {
	case o.Size == nil:
		return o.Reset
	case o.Reset == nil:
		return func(x *T) bool { return o.Size(x) <= o.MaxSize }
	}
	return func(x *T) bool { return o.Size(x) <= o.MaxSize && o.Reset(x) }
}
