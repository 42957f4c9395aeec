//go:build poolswapsched

package sched

// state is what tells the states of a world apart, as a hash: what is in
// memory and in the buffers, and of each thread all that it has learned, which
// determines where it is and what it will do.
//
// Threads of one name may change places; it is the same state. (Processors may
// not: sums read the counters by number.) And of the counters of an object only
// the difference between the sums matters, which is all that is ever asked for.
// With Config.EveryState all these are states of their own, and Result says how
// many there would be without: as many as are found without it, or something is
// forgotten that matters.
type state struct {
	beside []func() uint64
	keys   []uint64 // of ranked
	ranks  []int
}

// Watch says that there is more that matters than what is behind the seam and
// what threads learn there: hash stands for it. It takes no steps.
func (w *World) Watch(hash func() uint64) { w.state.beside = append(w.state.beside, hash) }

// hash stands for the state of the world. ranks numbers the ways to go on from
// there, in an order that is the same wherever the hash is.
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

// unmerged stands for a state that hash takes for the same as others: it tells
// threads apart, keeps what they forget, and counts each counter by itself.
func (w *World) unmerged(hash uint64) uint64 {
	for _, o := range w.memory.objects {
		for _, at := range o.counters {
			hash = mix(hash, at.value())
		}
	}
	for _, t := range w.threads {
		hash = mix(mix(hash, t.place), t.whole)
	}
	for c := range w.cpus {
		for _, store := range w.cpus[c].buffer {
			hash = mix(mix(hash, uint64(store.by.id)), store.count.id)
		}
	}
	return hash
}

// place finds out where each thread is: what it has learned, what it is about
// to do, and which of the stores in the buffers are its own.
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

// ranked returns for each way the number of those that come before it.
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
