package poolswap

import "github.com/poolswap/poolswap/internal/seam"

// spares holds the free objects of a pool: those that are clean, last in first
// out, and those that still await their reset. Readers only push; writers and
// the sweeper push and pop.
type spares struct {
	limit int        // how many clean objects are kept; constant
	mu    seam.Mutex // never held while code of the user runs
	clean []*Ref     // guarded by mu; its capacity is limit

	// awaiting is the head of a list linked by Ref.next. Anybody pushes, with
	// a compare-and-swap. Pops hold mu: with one popper at a time the head
	// cannot leave and come back between the load and the swap, which is the
	// ABA problem of such lists.
	awaiting seam.Pointer[Ref]
}

// pushClean keeps ref, or reports that there are enough.
func (s *spares) pushClean(ref *Ref) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.clean) == s.limit {
		return false
	}
	s.clean = append(s.clean, ref)
	return true
}

// popClean returns the spare that was used last, or nil.
func (s *spares) popClean() *Ref {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.takeClean()
}

// takeClean is popClean for a caller that holds mu.
func (s *spares) takeClean() *Ref {
	last := len(s.clean) - 1
	if last < 0 {
		return nil
	}
	ref := s.clean[last]
	s.clean[last] = nil
	s.clean = s.clean[:last]
	return ref
}

// pushAwaiting hands over an object that needs its reset. It is lock-free: it
// goes round again only because another object was pushed or popped.
func (s *spares) pushAwaiting(ref *Ref) {
	for {
		head := s.awaiting.Load()
		ref.next = head
		if s.awaiting.CompareAndSwap(head, ref) { // (P1) ownership of ref passes to whoever pops it
			return
		}
	}
}

// pop returns a free object, clean if there is one, else one that needs its
// reset, or nil. It looks for both under one lock: the sweeper moves objects
// from the one to the other, and between two looks could hide all of them.
func (s *spares) pop() (ref *Ref, clean bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if ref := s.takeClean(); ref != nil {
		return ref, true
	}
	return s.takeAwaiting(), false
}

// popAwaiting returns an object that needs its reset, or nil.
func (s *spares) popAwaiting() *Ref {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.takeAwaiting()
}

// takeAwaiting is popAwaiting for a caller that holds mu.
func (s *spares) takeAwaiting() *Ref {
	for {
		head := s.awaiting.Load()
		if head == nil {
			return nil
		}
		if s.awaiting.CompareAndSwap(head, head.next) { // (P3) fails only because of a push
			head.next = nil
			return head
		}
	}
}

// count returns how many objects are clean and how many await their reset.
func (s *spares) count() (clean, awaiting int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for ref := s.awaiting.Load(); ref != nil; ref = ref.next {
		awaiting++
	}
	return len(s.clean), awaiting
}
