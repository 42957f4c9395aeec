package seam

// Waiting returns how many goroutines wait for the turn.
func (t *Turn) Waiting() int {
	t.turn.mu.Lock()
	defer t.turn.mu.Unlock()
	return len(t.turn.waiting)
}
