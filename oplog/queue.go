package oplog

// queue is a slice that grows at its end and shrinks at its beginning, and
// allocates nothing once it has grown to twice its content.
type queue[E any] struct {
	items []E // the elements before start are dropped, and zero
	start int
}

func (q *queue[E]) all() []E { return q.items[q.start:] }

// push appends elements.
func (q *queue[E]) push(elements ...E) {
	// Move the remaining elements to the beginning if they are fewer than the
	// dropped ones: the pushes of those paid for the move.
	if left := len(q.items) - q.start; len(q.items)+len(elements) > cap(q.items) && left <= q.start {
		copy(q.items, q.all())
		clear(q.all()) // the elements before are zero already
		q.items, q.start = q.items[:left], 0
	}
	q.items = append(q.items, elements...)
}

// drop removes the oldest n elements and clears their references.
func (q *queue[E]) drop(n int) {
	clear(q.items[q.start : q.start+n])
	q.start += n
}
