package poolswap

import (
	"fmt"
	"sync"
	"unsafe"
	"weak"

	"github.com/poolswap/poolswap/internal/seam"
	"github.com/poolswap/poolswap/internal/stripe"
)

// recycler is the engine of a [Pool]: where free objects are, and who makes,
// resets and discards them. It runs the user's functions with no lock held and
// never on a reader.
type recycler struct {
	factory  func() *Ref
	reset    func(*Ref) bool // nil: nothing to do
	discard  func(*Ref)      // nil: the garbage collector does it
	report   func(error)     // nil: nobody listens
	typeName string
	portable bool
	maxLive  int // 0: no limit

	known    known
	spares   spares
	overflow sync.Pool // of *Ref: clean objects beyond the spares, until the next collections

	sweeping  seam.Bool // a sweeper runs, or is about to
	sweepFunc func()    // p.sweep, made once so that starting it does not allocate

	self  *recycler // tells a copied pool from the original
	tally tally
}

// get returns a private object.
func (p *recycler) get() (*Ref, error) {
	for {
		ref, clean := p.spares.pop() // (G1) ownership passes to this call
		if ref == nil {
			if ref, clean = p.overflow.Get().(*Ref); ref == nil { // (G1) as well
				return p.create()
			}
		}
		if !clean {
			if !p.scrub(ref) {
				continue
			}
			if p.spares.limit == 0 { // as the sweeper would have done, had it come first
				p.drop(ref)
				continue
			}
		}
		state := &ref.counters.Load().State
		state.Store(in(state.Load()+nextLife, private)) // (G2) a new life: sums of earlier ones cannot end it
		return ref, nil
	}
}

// create returns a private object that the factory made.
func (p *recycler) create() (*Ref, error) {
	if !p.tally.reserve(p.maxLive) { // (G3) counted before it exists
		return nil, ErrLimit
	}
	made := false
	defer func() {
		if !made { // the factory panicked, or what it returned was refused
			p.tally.gone()
		}
	}()
	ref := p.factory()
	if ref == nil {
		panic(fmt.Sprintf("poolswap: the factory of the pool of %s returned nil", p.typeName))
	}
	if !p.attach(ref) && !p.revive(ref) {
		p.checkOwn(ref, "Get")
		ref.panicMisuse("Get", "that is in use (the factory returned the same object twice?)")
	}
	made = true
	p.tally.created.Add(1)
	return ref, nil
}

// adopt makes ref, an object that did not come from a pool, this pool's.
func (p *recycler) adopt(ref *Ref) {
	if p.attach(ref) {
		p.tally.born()
		p.tally.adopted.Add(1)
	}
}

// renew takes back an object that the pool had discarded.
func (p *recycler) renew(ref *Ref) bool {
	if !p.revive(ref) {
		return false
	}
	p.tally.born()
	p.tally.adopted.Add(1)
	return true
}

// attach gives a new object its counters and makes it private. It reports
// false for an object that has counters already, and panics for one that had.
func (p *recycler) attach(ref *Ref) bool {
	counters := stripe.New(p.portable)
	counters.State.Store(uint64(unborn))             // (N1) before anybody sees them
	if !ref.counters.CompareAndSwap(nil, counters) { // (N1) of two that bring it one goes on
		return false
	}
	if had := p.known.add(ref, counters); had != nil {
		p.restore(ref, had)
		panic(fmt.Sprintf("poolswap: the Ref of a %s was overwritten after the pool had handed it out (by *t = T{…}? assign to the other fields)", p.typeName))
	}
	p.restore(ref, counters)
	seam.AddCleanup(ref, remains.settle, remains{weak.Make(p), weak.Make(ref), counters})
	counters.State.Store(uint64(private)) // (N2) from here on the fields of ref are constant
	return true
}

// restore writes all of a Ref that belongs to this pool.
func (p *recycler) restore(ref *Ref, counters *stripe.Counters) {
	ref.pool = p
	ref.self = uintptr(unsafe.Pointer(ref))
	ref.counters.Store(counters) // (N2) what it is already, unless somebody overwrote it
}

// revive begins a new life of a discarded object of this pool, as private.
func (p *recycler) revive(ref *Ref) bool {
	state := &ref.counters.Load().State
	now := state.Load()
	return phaseOf(now) == discarded && ref.pool == p && ref.self == uintptr(unsafe.Pointer(ref)) &&
		state.CompareAndSwap(now, in(now+nextLife, private)) // (N3) of two that bring it one goes on
}

// recycle resets a free object that the caller owns and keeps or drops it.
func (p *recycler) recycle(ref *Ref) {
	if p.scrub(ref) {
		p.keep(ref)
	}
}

// scrub resets a free object that the caller owns and reports whether it may be
// used again. If not it is gone: discarded, or lost to a panic.
func (p *recycler) scrub(ref *Ref) bool {
	if p.reset == nil {
		return true
	}
	clean := p.runReset(ref)
	if !clean {
		p.drop(ref)
	}
	return clean
}

// runReset returns what reset returns. The object is lost if it does not.
func (p *recycler) runReset(ref *Ref) (clean bool) {
	counters := ref.counters.Load()
	returned := false
	p.tally.resetting.Add(1)
	defer func() {
		p.tally.resetting.Add(-1)
		if !returned {
			counters.State.Store(in(counters.State.Load(), lost)) // (L3) nobody else has it
			p.tally.lost.Add(1)
			p.tally.gone()
		}
	}()
	clean = p.reset(ref)
	if ref.counters.Load() != counters {
		p.restore(ref, counters)
		panic(fmt.Sprintf("poolswap: reset of a %s overwrote its Ref (by *t = T{…}? assign to the other fields)", p.typeName))
	}
	returned = true
	return clean
}

// keep puts a clean object where get finds it, or drops it.
func (p *recycler) keep(ref *Ref) {
	switch {
	case p.spares.pushClean(ref): // (K1) ownership passes to whoever pops it
	case p.discard == nil && p.maxLive == 0 && p.spares.limit > 0:
		p.overflow.Put(ref) // (K2) or gets it from there
	default:
		p.drop(ref)
	}
}

// drop lets go of a free object for good. It is live, with what it owns, until
// discard has returned or panicked.
func (p *recycler) drop(ref *Ref) {
	state := &ref.counters.Load().State
	state.Store(in(state.Load(), discarded)) // (K3) before discard, which may pass it on
	p.tally.resetting.Add(1)
	defer func() {
		p.tally.resetting.Add(-1)
		p.tally.discarded.Add(1)
		p.tally.gone()
	}()
	if p.discard != nil {
		p.discard(ref)
	}
}

// trim drops every clean object.
func (p *recycler) trim() {
	for ref := p.spares.popClean(); ref != nil; ref = p.spares.popClean() {
		p.drop(ref)
	}
	for ref, _ := p.overflow.Get().(*Ref); ref != nil; ref, _ = p.overflow.Get().(*Ref) {
		p.drop(ref)
	}
}

// tell reports what no caller can be told of.
func (p *recycler) tell(err error) {
	if p.report != nil {
		p.report(err)
	}
}
