package stripe

import (
	"sync/atomic"
	"unsafe"

	"github.com/poolswap/poolswap/internal/seam"
)

// size keeps two stripes from sharing a cache line, and from sharing the pair
// of lines that the adjacent-line prefetcher of amd64 fetches together.
const size = 128

// stripe holds the two counters of one P.
type stripe struct {
	acquired seam.Count
	released seam.Count
	_        [size - 2*unsafe.Sizeof(seam.Count{})]byte
}

// Counters is the part of an object's bookkeeping that lives outside the
// object: its state word and its stripes. It outlives the object by design, so
// that a cleanup that runs after the object is gone can still read it. It has
// no pointers, which lets one allocation hold the header and all stripes, each
// on cache lines of its own: the allocator aligns pointer-free blocks of a
// multiple of 128 bytes to 128 bytes.
//
// The header is followed in memory by owned+1 stripes. Stripe k < owned
// belongs to P k. The last is the overflow: it counts for every P number that
// did not exist when the stripes were made, and is written atomically only.
type Counters struct {
	// State belongs to the protocol; this package never looks at it, nor at
	// Publication. They share their line with plain and owned only, which never
	// change.
	State seam.Uint64

	plain int // the assembly counts stripes [0,plain) plainly: owned, or 0 for portable counters
	owned int // stripes that belong to a P

	Publication Publication

	_ [size - 8 - 2*unsafe.Sizeof(int(0)) - unsafe.Sizeof(Publication{})]byte
}

// Publication describes the last publication of an object.
// It is here because it outlives the object and is read through a weak
// reference. No reader writes it.
type Publication struct {
	// Version is the number of the last publication, or 0 if there was none,
	// or if the object was given back or discarded since. The writer that
	// publishes the object writes it before the swap, its owner after that.
	Version seam.Uint64

	// Leaving is 0 while the object is with an owner, current or clean. Else
	// it is the order in which the object left a container, or its owner who
	// gave it back, until it is reset or discarded.
	Leaving seam.Uint64

	// Container is the number of the container, written with Version. Close of a
	// container waits for objects that have it and are leaving.
	Container atomic.Uint64

	// Left is when the object left, in nanoseconds of the pool's clock, for
	// messages and stats.
	Left atomic.Int64

	// Traced says whether the references to this publication are recorded. It is
	// written with Version, before the swap; readers of the methods read it.
	Traced seam.Bool
}

// At relies on the layout.
var (
	_ [0]struct{} = [unsafe.Sizeof(stripe{}) - size]struct{}{}
	_ [0]struct{} = [unsafe.Sizeof(Counters{}) - size]struct{}{}
)

// New makes Counters with all counts zero, asymmetric ones where the process
// can have them and portable is false. It costs 128 bytes for each processor
// and 256 more.
func New(portable bool) *Counters {
	owned := seam.Stripes()
	plain := 0
	if !portable && Asymmetric() {
		plain = owned
	}
	return newCounters(plain, owned)
}

func newCounters(plain, owned int) *Counters {
	block := make([]stripe, 1+owned+1)
	c := (*Counters)(unsafe.Pointer(&block[0])) // header and stripe have the same size, asserted above
	c.plain, c.owned = plain, owned
	return c
}

// at returns stripe k, 0 <= k <= owned.
func (c *Counters) at(k int) *stripe {
	return (*stripe)(unsafe.Add(unsafe.Pointer(c), (1+k)*size))
}

// CountAcquired counts one reference taken. The caller is pinned: Pin returned k.
func (c *Counters) CountAcquired(k int) {
	c.at(seam.Stripe(k, c.owned)).acquired.IncPinned(uint(k) < uint(c.plain))
}

// CountReleased counts one reference given back. The caller is pinned: Pin returned
// k.
func (c *Counters) CountReleased(k int) {
	c.at(seam.Stripe(k, c.owned)).released.IncPinned(uint(k) < uint(c.plain))
}

// Released sums the references that were given back. To learn whether references are
// outstanding, call it before Acquired: both sums only grow and released never
// exceeds acquired, so if released, summed first, equals acquired, summed
// after it, then both had that value in between.
func (c *Counters) Released() uint64 {
	var sum uint64
	for k := 0; k <= c.owned; k++ {
		sum += c.at(k).released.Load()
	}
	return sum
}

// Acquired sums the references that were taken.
func (c *Counters) Acquired() uint64 {
	var sum uint64
	for k := 0; k <= c.owned; k++ {
		sum += c.at(k).acquired.Load()
	}
	return sum
}

// CountsPlain reports whether these counters are asymmetric.
func (c *Counters) CountsPlain() bool { return c.plain > 0 }

// Outstanding returns how many references are taken and not given back, as of
// some moment during the call.
func (c *Counters) Outstanding() int {
	_ = c.HeavyFence() // if it fails, counts of the last instant may be missing
	released := c.Released()
	return int(int64(c.Acquired() - released))
}

// Held is Outstanding without a fence, which would interrupt other processors:
// counts that are in store buffers yet are missing, and it is never negative.
func (c *Counters) Held() int {
	released := c.Released()
	return max(0, int(int64(c.Acquired()-released)))
}

// Where an assembly routine finds things in Counters; it is asserted to agree
// with CountAcquired and CountReleased by the tests of this package.
const (
	StateOffset    = unsafe.Offsetof(Counters{}.State)
	PlainOffset    = unsafe.Offsetof(Counters{}.plain)
	OwnedOffset    = unsafe.Offsetof(Counters{}.owned)
	StripeShift    = 7 // log2 of the size of a stripe
	AcquiredOffset = size + unsafe.Offsetof(stripe{}.acquired)
	ReleasedOffset = size + unsafe.Offsetof(stripe{}.released)
)

var _ [0]struct{} = [size - 1<<StripeShift]struct{}{}
