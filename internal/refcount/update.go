package refcount

import "errors"

// Update publishes next and retires the object that it replaces. It returns false, and leaves
// next to the caller, if the slot is closed. For nil it empties the slot, closed or
// not. op names the operation in panics.
func (s *Slot) Update(next *Object, op string) (open bool) {
	s.Check(op)
	var old *Object
	if next == nil {
		s.mu.Lock()
		old = s.swap(nil, 0)
		s.mu.Unlock()
	} else {
		if _, closed := s.snapshot(); closed {
			return false
		}
		owned, adopted := s.prepare(next, op)
		tracing := s.pool.beginTracing()
		defer s.pool.reportHeldTooLong(tracing)
		var err error
		old, _, err = s.put(next, owned, anySwaps, tracing.traced)
		if err != nil {
			s.pool.cancelTracing(tracing)
		}
		if errors.Is(err, ErrClosed) {
			if adopted {
				s.pool.disown(next, owned)
			}
			return false
		} else if err != nil {
			s.refuse(next, op)
		}
	}
	if err := s.end(old, op); err != nil {
		panic(err.Error())
	}
	return true
}

// prepare makes next known to the pool if it is new, and returns its state word
// and whether this call adopted it.
func (s *Slot) prepare(next *Object, op string) (owned uint64, adopted bool) {
	if next.counters.Load() == nil {
		if owned, adopted = s.pool.adopt(next); adopted {
			return owned, true
		}
	}
	s.pool.checkOwn(next, op)
	owned = next.counters.Load().State.Load()
	if phaseOf(owned) == discarded {
		if again, adopted := s.pool.adoptDiscarded(next); adopted {
			return again, true
		}
	}
	return owned, false
}

// anySwaps tells put not to compare the number of swaps.
const anySwaps = ^uint64(0)

// errRefused: the object is not its caller's.
var errRefused = errors.New("refused")

// put makes next current. It returns the old object, whose retirement passes to
// the caller, and the version of next. It changes nothing and fails if the slot is
// closed, if it was swapped since there were so many swaps, or if the state of
// next, which the caller owns, is not the private one that the caller saw. traced says
// that beginTracing wants the version traced.
func (s *Slot) put(next *Object, owned, swaps uint64, traced bool) (old *Object, version uint64, err error) {
	// Publications of one container have one order, that of the mutex. Nothing
	// below waits, allocates, panics or calls a function of the user, so the
	// mutex is held shortly and always given back.
	s.mu.Lock()
	defer s.mu.Unlock()

	// (V3) Look whether the slot is closed, or was swapped since the caller held
	// the object that it built on. Swaps are counted; addresses would not do, since a
	// container that was empty can be filled and be empty again. The mutex keeps
	// the answer true until (U2).
	if s.closed { // (V3)
		return nil, 0, ErrClosed
	}
	if swaps != anySwaps && s.swaps != swaps { // (V3)
		return nil, 0, ErrConflict
	}

	// (U1) Private to live. It is a compare-and-swap, so one of two racing
	// Updates of an object is refused, also if they name two containers. It
	// is from the state that the caller saw, generation included, so an
	// object that was given back and has another owner now is refused too.
	// It comes before (U2), because a reader that acquires at once may
	// release at once and must not find private at (R1). Between (U1) and
	// (U2) the object is live and in no container: no reader validates it,
	// and late ones count and undo. Nothing after it fails: a live object
	// is never taken back.
	counters := next.counters.Load()
	if phaseOf(owned) != private || !counters.State.CompareAndSwap(owned, withPhase(owned, live)) { // (U1)
		return nil, 0, errRefused
	}
	s.pool.stats.private.Add(-1)
	s.pool.stats.published.Add(1)

	// (V4) Number the object, before the swap, so that everyone who can hold
	// it reads its number. The number comes from a counter of the pool, and
	// under the mutex, so it is above all earlier ones of this container.
	version = s.pool.versions.Next()
	publication := &counters.Publication
	publication.Container.Store(s.id)  // (V4)
	publication.Version.Store(version) // (V4)
	if traced {
		s.pool.tracer.references.begin(counters, version)
	}
	if publication.Traced.Load() != traced {
		// (X4) Say whether it is traced, before the swap and after (X3): each reader
		// that can hold this version comes through the methods and finds the word
		// as it stays until the version has drained.
		publication.Traced.Store(traced) // (X4)
	}

	old = s.swap(next, version)
	s.wake()
	return old, version, nil
}

// swap makes next, which is live, or nil current, and returns the old object. The
// caller holds mu, and wakes those that wait for a version.
func (s *Slot) swap(next *Object, version uint64) (old *Object) {
	// The current object does not change before the swap: all swaps are made
	// under the mutex.
	old = s.current.Load()
	s.count(old, next)

	// (U2) Swap: the linearization point of an Update. Each publication of an
	// object is returned by exactly one swap, so exactly one writer retires it:
	// ownership of the retirement passes to this call. Between (U2) and (T1)
	// the old object is live and not current. Readers that validated before
	// still release it, see live at (R4), and leave it to this writer.
	old = s.current.Swap(next) // (U2)
	s.swaps++

	// (V5) Show the version, after the swap: a goroutine that reads it and then
	// acquires gets this object or a newer one. The caller wakes those that wait
	// for it after that; emptying the slot wakes none.
	s.version.Store(version) // (V5)
	return old
}

// count marks old, which is about to be swapped out for next, and counts both.
func (s *Slot) count(old, next *Object) {
	change := 0
	if old != nil && s.pool.beginReplacing(old) {
		change--
	}
	if next != nil {
		change++
	}
	if change == 0 {
		return // the usual Update: as many are current as before
	}
	// (G4) Count the current objects of the pool, before (U2): under the mutex
	// nothing comes between. Count one more before (W2): a publisher at the limit
	// has asked and then looked, so it saw this count or is woken, and its wait may
	// be in vain now.
	s.pool.stats.objects.change(0, change) // (G4)
	if change > 0 {
		s.pool.returned.wake()
	}
}
