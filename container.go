package poolswap

import (
	"context"
	"fmt"
	"unsafe"

	"github.com/poolswap/poolswap/internal/refcount"
)

// Container holds the current object of its kind and replaces it under full
// read load. Readers Acquire and Release it and never wait. A writer fills an
// object from the pool and publishes it: with Publish, or with Get and Update.
// The old object returns to the pool when its last reader releases it.
//
// Declare one with both type parameters; the second is always *T:
//
//	type Server struct {
//		tables *poolswap.Container[Table, *Table]
//	}
//
// A Container is safe for any number of readers and writers at a time. It must
// not be copied: most methods of a copy panic. A nil one panics like any nil
// pointer. It is good for one heavy object that is read all the time and
// replaced now and then. For a value that is cheap to allocate an
// atomic.Pointer is simpler and reads faster.
//
// Acquire is lock-free: it repeats only because a publication took effect in
// between. Release is wait-free, except for the one that drains a replaced
// object, which is lock-free: it hands the object over with a compare-and-swap.
// While no update comes between, a read allocates nothing and writes no cache
// line that another processor writes, but see "Promises" in the package comment.
//
// In the terms of the Go memory model, a publication synchronizes before every
// Acquire and Load that returns its object, every Wait that returns its version
// and every publication of the container that comes after it; the Release of an
// object synchronizes before its reset, its next use, and the return of a Drain
// or Close that waited for it.
type Container[T any, P Object[T]] struct {
	slot refcount.Slot

	// Keep neighbours in memory off the cache lines of the slot.
	_ [256 - unsafe.Sizeof(refcount.Slot{}) - unsafe.Sizeof(uintptr(0))]byte

	pool *Pool[T, P]
}

// NewContainer returns a container whose current object is init, which need
// not come from the pool: a composite literal will do. With a nil init the
// container is empty: Acquire returns nil until the first publication. It panics
// if pool is nil, zero or closed, and where Update would; init then belongs to
// the caller as before.
func NewContainer[T any, P Object[T]](pool *Pool[T, P], init *T) *Container[T, P] {
	const op = "NewContainer"
	c := newContainer(op, pool)
	if init != nil && !c.slot.Update(engineObject(init, pool.offset), op) {
		panicClosedPool(op) // Close came between
	}
	return c
}

// NewEmptyContainer is NewContainer with a nil init, under its name in the
// interface that was published first.
func NewEmptyContainer[T any, P Object[T]](pool *Pool[T, P]) *Container[T, P] {
	return newContainer("NewEmptyContainer", pool)
}

func newContainer[T any, P Object[T]](op string, pool *Pool[T, P]) *Container[T, P] {
	if pool == nil {
		panic("poolswap: " + op + " with a nil Pool")
	}
	pool.engine.Check(op)
	c := &Container[T, P]{pool: pool}
	if !c.slot.Init(&pool.engine, pool.offset) {
		panicClosedPool(op)
	}
	return c
}

func panicClosedPool(op string) { panic("poolswap: " + op + " with a closed Pool") }

// Acquire returns the current object, or nil if the container is empty. The
// object may be read, and must not be written, until it is given to Release,
// which must happen exactly once and may happen on another goroutine. It never
// blocks. It panics for a zero Container, and it may panic when it detects an
// over-release; see Release.
func (c *Container[T, P]) Acquire() *T {
	_, obj := refcount.Acquire(&c.slot)
	return (*T)(obj)
}

// Release gives back an object that Acquire returned; the caller must not
// touch it afterwards. It never blocks and never runs the pool's functions,
// with one exception: an owner gives back an object from Get that it did not
// publish, and resets it here. Release(nil) does nothing.
//
// It panics, naming the operation and the likely cause, if the object is in
// the pool, belongs to another pool or was never published. For a copy of the
// object it panics only while the original is being replaced.
//
// The second of two Releases for one Acquire is not always known to be wrong at
// once. If no other reader holds the object, the excess is found when the
// object drains, by a writer, or by a reader in Release or Acquire. With
// Options.Report set it is reported as an [*OverReleaseError]; without, the finder
// panics. If another reader holds the object, the second Release takes that
// reader's reference away, and a writer may fill the object under that reader;
// see docs/limitations.md.
//
// An object that a [Reader] returned belongs to the Reader: do not give it to
// Release. That would be a Release too many, found later by another goroutine.
func (c *Container[T, P]) Release(obj *T) {
	refcount.Release(&c.slot, unsafe.Pointer(obj))
}

// WithAcquire calls fn with the current object, or with nil if the container
// is empty, and releases the object when fn returns, panics or calls
// runtime.Goexit. fn must not keep the object. The closure does not allocate.
func (c *Container[T, P]) WithAcquire(fn func(*T)) {
	_, obj := refcount.Acquire(&c.slot)
	defer refcount.Release(&c.slot, obj) // cheaper than a method of c, which takes a type dictionary along
	fn((*T)(obj))
}

// GetNew is [Pool.Get] of the container's pool, under its name in the interface
// that was published first. Unless filling and publishing are far apart,
// [Container.Publish] is better: it gives the object back if filling fails, and
// waits where Get panics.
func (c *Container[T, P]) GetNew() *T {
	c.slot.Check("GetNew")
	return c.pool.Get()
}

// Update makes obj the current object and takes ownership of it. obj comes
// from Get of the pool, or is an object that was never in a pool. The
// object that was current returns to the pool when its last reader releases
// it; if no reader holds it, reset runs here, before Update returns.
// Update(nil) empties the container. Update never waits for readers.
//
// [Container.Publish] is the better way if the new content is built on the old, if
// there can be two writers, if filling can fail, or if objects are few.
//
// It panics, naming the operation and the likely cause, if obj is current here
// or in another container, is in the pool, has been replaced and is still held,
// belongs to another pool, or is a copy, or if the container is closed. The
// container and the owner of obj are then the same as before: a caller that got
// obj from the pool releases it. Update can also panic after obj became current: if
// reset or Discard of the old object panics, or if the old object was released more
// often than it was acquired and Options.Report is nil. Then, as after a return of
// Update, obj belongs to the container, and the caller must not release it.
func (c *Container[T, P]) Update(obj *T) {
	if !c.slot.Update(engineObject(obj, c.slot.Offset()), "Update") {
		panic(fmt.Sprintf("poolswap: Update of a %s in a closed Container (Close came first; release the object if it came from the pool)", c.pool.engine.TypeName))
	}
}

// Retain takes one more reference to obj, which the caller holds, and returns
// obj. Each reference is released once. Use it to hand one version to several
// goroutines, or to keep it beyond the original holder. It never blocks.
// Retain(nil) is nil.
//
// It panics if obj is in the pool, is not published, belongs to another pool or
// is a copy. An object that was released and is in use again cannot be told from
// one that is held; see Release.
func (c *Container[T, P]) Retain(obj *T) *T {
	c.slot.Retain(unsafe.Pointer(obj))
	return obj
}

// Close empties the container for good and waits until every object that it
// published is back in the pool or discarded. From its beginning on, Acquire and
// Load return nil, Publish and Wait return ErrClosed, Versions ends, and Update
// of an object panics. A running fill still ends, and Publish gives its object
// back. At the end of a program close the pool, which closes its containers.
//
// If ctx ends first, Close returns a *HeldError with the versions that are still
// held; the container stays closed and Close can be called again. Close is
// idempotent and safe for concurrent use. Without Options.Report its error also
// matches an *OverReleaseError if the last object had been released too often.
//
// A Close inside fill, inside the body of a Versions loop, in reset or in
// Discard waits for itself. So does one on a goroutine that holds an object of
// the container. Close waits for an idle [Reader]. It panics if ctx is nil.
func (c *Container[T, P]) Close(ctx context.Context) error {
	excess, err := c.slot.Close(ctx)
	return closed(err, excess)
}

// NewReader returns a [Reader] of the container, for one goroutine.
func (c *Container[T, P]) NewReader() *Reader[T] {
	c.slot.Check("NewReader")
	return &Reader[T]{current: c.slot.Current(), slot: &c.slot}
}
