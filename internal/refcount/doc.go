// Package refcount is the engine of poolswap: the current object of a
// container, the references that readers hold to it, and the free objects of a
// pool. It works on untyped Objects; package poolswap puts types, options and
// documentation in front.
//
// One file is one path:
//
//	object.go    the words of an object, its phases and generations
//	pool.go      Pool and Slot: what a pool and a container are in here
//	read.go      Acquire and Release, and their assembly in read_amd64.s
//	write.go     Update: publish, swap, retire, reclaim
//	publish.go   Publish: the turn, fill, and what it takes back
//	wakeup.go    how goroutines wait for a change without a lock
//	wait.go      versions, and waiting for one
//	leaving.go   objects on their way back, and waiting for them
//	close.go     the end of containers and pools
//	errors.go    errors, and who holds what
//	get.go       Get: a free object, a new one, an adopted one
//	recycle.go   reset, keep or drop; the sweeper
//	freelist.go  clean objects and objects that need their reset
//	spares.go    how many clean objects are kept
//	cleanup.go   what the garbage collector took; the registry of objects
//	stats.go     counts of events
//	misuse.go    panics that name the operation and the likely cause
//
// Each step that other goroutines can observe has a label, such as (A3). The
// paragraph that begins with the label says what others can do between this
// step and the next, and why that is sound. The model names its actions by the
// same labels, and a test compares the two sets. docs/design.md has what
// these paragraphs rely on: the machine model and the three arguments, called
// Sums, Visible and Last check here.
package refcount
