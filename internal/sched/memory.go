//go:build poolswapsched

package sched

import (
	"fmt"
	"unsafe"

	"github.com/poolswap/poolswap/internal/seam"
)

// memory is the shared words.
type memory struct {
	words   map[unsafe.Pointer]*word
	objects []*object
	names   map[uint64]uint64 // the stand-in for the address of an object in hashes
	hash    uint64            // sum of the hashes of all words but counters
	stock   []*word           // the first len(words) are in use
}

// word is a piece of shared memory.
type word struct {
	addr   unsafe.Pointer
	id     uint64 // the same in every run
	hash   uint64 // its share of memory.hash
	late   bool   // first used by a thread, before it was named: id differs between runs
	object *object
	kind   kind
}

// kind is the kind of counter that a word is.
type kind uint8

const (
	noCounter kind = iota
	acquired
	released
)

// object is something with counters.
type object struct {
	id       uint64
	counters []*word
}

func newMemory() memory {
	return memory{words: make(map[unsafe.Pointer]*word), names: make(map[uint64]uint64)}
}

func (m *memory) clear() {
	clear(m.words)
	clear(m.names)
	m.objects, m.hash = m.objects[:0], 0
}

// touch returns the word at addr, and makes it as id if it is new.
func (m *memory) touch(addr unsafe.Pointer, id uint64, late bool) *word {
	at := m.words[addr]
	if at == nil {
		at = m.make()
		*at = word{addr: addr, id: id, late: late}
		m.words[addr] = at
		m.rehash(at)
	}
	return at
}

// make returns a word from the stock; each run uses dozens.
func (m *memory) make() *word {
	used := len(m.words)
	if used == len(m.stock) {
		m.stock = append(m.stock, new(word))
	}
	return m.stock[used]
}

// rehash updates the word's share of the hash. Counters have none: states differ
// by their sums.
func (m *memory) rehash(at *word) {
	if at == nil || at.kind != noCounter {
		return
	}
	hash := mix(at.id, m.canonical(at.value()))
	m.hash += hash - at.hash
	at.hash = hash
}

func (at *word) value() uint64 { return *(*uint64)(at.addr) }

// called stands for the word in a thread's history. For a counter it leaves out
// the stripe, which follows from the processor.
func (at *word) called() uint64 {
	if at == nil {
		return 0
	}
	if at.kind != noCounter {
		return mix(at.object.id, uint64(at.kind))
	}
	return at.id
}

// outstanding is the visible acquired counts less the visible released counts.
func (o *object) outstanding() uint64 {
	var sum uint64
	for _, at := range o.counters {
		if at.kind == acquired {
			sum += at.value()
		} else {
			sum -= at.value()
		}
	}
	return sum
}

// canonical replaces the address of a named object by its name's hash.
func (m *memory) canonical(value uint64) uint64 {
	if name, ok := m.names[value]; ok {
		return name
	}
	return value
}

// Name names the object at p. The name appears in traces and stands for the
// object's address in hashes, because addresses differ from run to run.
func (w *World) Name(p unsafe.Pointer, name string) {
	w.memory.names[uint64(uintptr(p))] = mixString(name)
	if w.trace != nil {
		w.labels[p] = name
	}
}

// Label names the word at p. Names must be unique. A scenario labels every word
// that it makes: a word that a thread uses before it has a name gets a
// different ID in each run, and equal states are not merged.
func (w *World) Label(p unsafe.Pointer, name string) {
	if w.trace != nil {
		w.labels[p] = name
	}
	w.memory.rename(w.touch(p), mixString(name))
}

// WhenSet calls label once a thread has set the word at p, in the same
// transition: to name the words of what the word at p points to before any other
// thread uses them.
func (w *World) WhenSet(p unsafe.Pointer, label func()) { w.whenSet[p] = label }

// Counters registers the counters of the object of that name, stripe by stripe.
// The code under test may only add up all released counters, then all acquired
// ones, and compare.
func (w *World) Counters(name string, stripes int, of func(k int) (acquired, released *seam.Count)) {
	o := &object{id: mixString(name)}
	for k := range stripes {
		plus, minus := of(k)
		w.counter(o, acquired, k, unsafe.Pointer(plus))
		w.counter(o, released, k, unsafe.Pointer(minus))
		if w.trace != nil {
			w.labels[unsafe.Pointer(plus)] = fmt.Sprintf("%s.acquired[%d]", name, k)
			w.labels[unsafe.Pointer(minus)] = fmt.Sprintf("%s.released[%d]", name, k)
		}
	}
	w.memory.objects = append(w.memory.objects, o)
}

func (w *World) counter(o *object, kind kind, k int, p unsafe.Pointer) {
	at := w.touch(p)
	w.memory.rename(at, mix(mix(o.id, uint64(kind)), uint64(k)))
	w.memory.hash -= at.hash
	at.object, at.kind, at.hash = o, kind, 0
	o.counters = append(o.counters, at)
}

// rename gives the word its permanent ID.
func (m *memory) rename(at *word, id uint64) {
	at.id, at.late = id, false
	m.rehash(at)
}
