package typedpool

// Options say which objects a [Pool] keeps and in which state. Every field may
// be left out. The functions are called on the goroutine that calls Put, with no
// lock held, and by many goroutines at the same time.
type Options[T any] struct {
	// Reset prepares an object for its next user. If it returns false, the
	// object is dropped.
	Reset func(*T) bool

	// Size reports how large an object is, in any unit; what the object holds
	// on to counts, such as the capacity of its buffers. It is called before
	// Reset: an object larger than MaxSize is dropped as it is, so that one
	// giant does not stay in the pool for ever, and is not reset.
	Size func(*T) int

	// MaxSize is the size of the largest object to keep, in the unit of Size.
	// It must be positive if Size is set, and 0 if it is not.
	MaxSize int
}

// NewWithOptions returns a Pool like [New] that keeps objects as options say.
// The options are copied.
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

// keep returns the one function that Put asks, or nil if it need not ask.
func (o Options[T]) keep() func(*T) bool {
	switch {
	case o.Size == nil:
		return o.Reset
	case o.Reset == nil:
		return func(x *T) bool { return o.Size(x) <= o.MaxSize }
	}
	return func(x *T) bool { return o.Size(x) <= o.MaxSize && o.Reset(x) }
}
