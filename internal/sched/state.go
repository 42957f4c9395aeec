//go:build poolswapsched

package sched

// state hashes the state of a world: the contents of memory and buffers, and
// for each thread all that it has learned, which determines where it is and
// its next steps.
//
// Three kinds of states are merged. Threads of one name may change places.
// (Processors may not, because sums read the counters by number.) Of the
// counters of an object only the difference of the sums counts, because the
// protocol only compares the sums. A thread's history ends where the scenario
// calls Forget.
type state struct {
	beside []func() uint64
	keys   []uint64 // of ranked
	ranks  []int
}

// Watch adds hash to the state: it covers the words that the scenario keeps outside the
// seam. hash must take no steps.
func (w *World) Watch(hash func() uint64) { w.state.beside = append(w.state.beside, hash) }

// hash returns the hash of the state, and numbers the ways to go on in an order
// that depends on the hash alone.
func (w *World) hash(ways []choice) (hash uint64, ranks []int) {
	h := w.memory.hash
	for _, o := range w.memory.objects {
		h += mix(o.id, o.outstanding())
	}
	for _, hash := range w.state.beside {
		h = mix(h, hash())
	}
	w.place()
	for _, t := range w.threads {
		h += t.place
	}
	return h, w.ranked(ways)
}

// place computes the place of each thread: its knowledge, its next step,
// and its stores in the buffers.
func (w *World) place() {
	for _, t := range w.threads {
		t.place = 0
		if !t.done {
			t.place = mix(mix(t.history, uint64(t.op)), t.at.called())
			t.place = mix(t.place, t.sums.known(w.config.Stripes+1))
		}
	}
	for c := range w.cpus {
		on := &w.cpus[c]
		if t := on.pinned; t != nil {
			t.place = mix(t.place, uint64(c))
		}
		for i, store := range on.buffer {
			t := store.by
			t.place = mix(mix(t.place, uint64(c)), mix(uint64(i), store.count.called()))
		}
	}
}

// ranked returns the rank of each way.
func (w *World) ranked(ways []choice) []int {
	keys, ranks := w.state.keys[:0], w.state.ranks[:0]
	for _, way := range ways {
		key := uint64(way.cpu)
		if way.thread != nil {
			key = mix(way.thread.place, key)
		}
		rank := 0
		for i, other := range keys {
			if other <= key {
				rank++
			} else {
				ranks[i]++
			}
		}
		keys, ranks = append(keys, key), append(ranks, rank)
	}
	w.state.keys, w.state.ranks = keys, ranks
	return ranks
}

// Mix combines two words into one (the finalizer of SplitMix64).
func Mix(a, b uint64) uint64 { return mix(a, b) }

func mix(a, b uint64) uint64 {
	z := a*0x9e3779b97f4a7c15 + b + 0x632be59bd9b4e019
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

func mixString(s string) uint64 {
	h := uint64(len(s))
	for _, b := range []byte(s) {
		h = mix(h, uint64(b))
	}
	return h
}
