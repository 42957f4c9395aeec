package slab

// batch is how many entries of SetAll are indexed at a time. A table that is larger than
// the caches of the processor is read from memory for each entry, and these reads
// overlap where none waits for the one before: for a million entries that takes a third
// of the time.
const batch = 32

// pending are entries whose strings are in the text and not yet in the index.
type pending[V any] struct {
	n      int
	hashes [batch]uint64
	places [batch]uint32
	values [batch]V
	read   uint64 // keeps the compiler from leaving out the reads ahead
}

// begin begins a SetAll.
func (t *table[V]) begin() {
	t.notInside("SetAll")
	if len(t.buckets) == 0 { // it has no seed yet
		t.resize(bucketsFor(batch), "SetAll")
	}
	if t.spare == nil {
		t.spare = new(pending[V])
	}
	t.pending = t.spare
}

// end indexes the last entries, also if the entries end with a panic.
func (t *table[V]) end() {
	t.settle("SetAll")
	t.pending = nil
}

// notInside panics for a call that would lose the pending entries.
func (t *table[V]) notInside(op string) {
	if t.pending != nil {
		panic("slab: " + op + " of a map inside its SetAll")
	}
}

// add is put, and the value, in batches.
func (t *table[V]) add(key, value string, v V) {
	const op = "SetAll"
	if !t.text.fitsBoth(key, value) {
		t.settle(op) // before the strings move
		key, value = t.makeRoom(key, value, op)
	}
	p := t.pending
	p.hashes[p.n], p.places[p.n], p.values[p.n] = t.hash(key), t.text.append(key, value), v
	if p.n++; p.n == batch {
		t.settle(op)
	}
}

// settle indexes the pending entries. Of two with one key the later one stays.
func (t *table[V]) settle(op string) {
	p := t.pending
	if p.n == 0 {
		return
	}
	if t.full(p.n) {
		t.resize(bucketsFor(max(t.count+p.n, min(t.count+t.count/2+1, maxEntries))), op)
	}
	for _, hash := range p.hashes[:p.n] {
		p.read += t.buckets[t.home(hash)].tags[0]
	}
	for i, hash := range p.hashes[:p.n] {
		place := p.places[i]
		at, _ := t.find(t.text.string(place), hash)
		if at < 0 {
			at = t.insert(hash, place)
		} else {
			old := t.place(at)
			t.text.dead += t.text.extent(*old)
			*old = place
		}
		t.values[at] = p.values[i]
	}
	clear(p.values[:p.n])
	p.n = 0
}
