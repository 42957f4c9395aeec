// Package refcount is the engine of poolswap: the current object of a
// container, the references that readers hold to it, and the free objects of a
// pool. It works on untyped Objects; package poolswap puts types, options and
// documentation in front.
//
// One file is one phase. They call downwards in this order, but for a few calls:
//
//	object.go    the words of an object, its phases and generations
//	pool.go      Pool: configuration, and the words of a pool
//	slot.go      Slot: the words of a container; the containers of a pool
//	read.go      Acquire and Release, and their assembly in read_amd64.s
//	publish.go   Publish: the turn, fill, and the way back
//	get.go       Get: a free object, or a new one
//	update.go    Update; the swap
//	close.go     Drain, and the end of containers and pools
//	stats.go     Stats
//	retire.go    retire and reclaim: a generation ends
//	sweep.go     the goroutine that resets objects that readers drained
//	return.go    give back, reset, keep or drop; the marks of returning objects
//	freelist.go  clean objects and objects that need their reset
//	spares.go    how many clean objects are kept
//	adopt.go     objects become the pool's: new, the user's, or discarded before
//	cleanup.go   objects that the garbage collector took
//	registry.go  the objects that exist
//	live.go      counts of objects and events; the room under MaxLive
//	wait.go      versions, and waiting for one
//	wakeup.go    how goroutines wait for a change without a lock
//	misuse.go    panics that name the operation and the likely cause
//	errors.go    errors
//
// Each step that other goroutines can observe has a label, such as (A3). The
// paragraph that begins with the label says what others can do between this
// step and the next, and why that is sound. The model names its actions by the
// same labels, and a test compares the two sets. docs/design.md has the premises that
// these paragraphs rely on: the machine model and the three arguments, called
// Sums, Visible and Last check here.
package refcount
