package rivals

// Unsynchronized is the limit: objects for one goroutine alone, which fills and
// reads them without any synchronization. With one copy a fill finds in the
// caches what the last one left there, but no reader could use the object then.
// With several, which it fills in turn, the old one stays as it was.
type Unsynchronized[T any] struct {
	copies  []*Object[T]
	current int
	reset   func(*T)
}

// NewUnsynchronized returns an Unsynchronized with that many copies.
func NewUnsynchronized[T any](f *Functions[T], copies int) *Unsynchronized[T] {
	s := &Unsynchronized[T]{copies: make([]*Object[T], copies), reset: f.Reset}
	for i := range s.copies {
		s.copies[i] = f.make()
		f.Fill(&s.copies[i].Value)
	}
	return s
}

// Acquire returns the copy that was filled last.
func (s *Unsynchronized[T]) Acquire() *Object[T] { return s.copies[s.current] }

// Release does nothing.
func (s *Unsynchronized[T]) Release(*Object[T]) {}

// GetNew empties the copy that was filled first and returns it.
func (s *Unsynchronized[T]) GetNew() *Object[T] {
	s.current = (s.current + 1) % len(s.copies)
	obj := s.copies[s.current]
	s.reset(&obj.Value)
	return obj
}

// Update does nothing.
func (s *Unsynchronized[T]) Update(*Object[T]) {}
