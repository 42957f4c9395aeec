package main

// index is a hash table that finds the owner with a given key, with open
// addressing. It does not keep keys, so that it has no pointers and can be used
// for one table after another: the owners are the keys.
type index struct {
	slots []slot // a power of two, more than half of them free; empty until the first use
	used  int
}

// slot is one entry of an index.
type slot struct {
	hash  uint32
	owner uint32 // plus one; 0 is a free slot
}

const smallestIndex = 1024

// reset empties the index and keeps its memory.
func (x *index) reset() {
	clear(x.slots)
	x.used = 0
}

// find returns the owner with this hash for which same is true. If there is
// none it returns the slot to put one in, with the hash set; the caller calls
// put before anything else.
func (x *index) find(hash uint32, same func(owner uint32) bool) (owner uint32, free *slot) {
	if 2*(x.used+1) > len(x.slots) {
		x.grow()
	}
	for i := hash; ; i++ {
		s := &x.slots[i&uint32(len(x.slots)-1)]
		switch {
		case s.owner == 0:
			s.hash = hash
			return 0, s
		case s.hash == hash && same(s.owner-1):
			return s.owner - 1, nil
		}
	}
}

// put fills a slot that find returned.
func (x *index) put(free *slot, owner uint32) {
	free.owner = owner + 1
	x.used++
}

// grow doubles the index.
func (x *index) grow() {
	old := x.slots
	x.slots = make([]slot, max(2*len(old), smallestIndex))
	for _, s := range old {
		if s.owner == 0 {
			continue
		}
		i := s.hash
		for x.slots[i&uint32(len(x.slots)-1)].owner != 0 {
			i++
		}
		x.slots[i&uint32(len(x.slots)-1)] = s
	}
}
