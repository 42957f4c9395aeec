//go:build poolswapsched

package sched

import (
	"fmt"
	"runtime/debug"
	"unsafe"

	"github.com/poolswap/poolswap/internal/seam"
)

// Config bounds a World.
type Config struct {
	CPUs     int // processors; 0 stands for 2
	Stripes  int // stripes of each object; 0 stands for CPUs. With fewer, the others count in the overflow
	Depth    int // plain stores a buffer holds; 0 stands for 2
	MaxSteps int // of one run, beyond which it is called a livelock; 0 stands for 2000
}

func (c Config) withDefaults() Config {
	if c.CPUs == 0 {
		c.CPUs = 2
	}
	if c.Stripes == 0 {
		c.Stripes = c.CPUs
	}
	if c.Depth == 0 {
		c.Depth = 2
	}
	if c.MaxSteps == 0 {
		c.MaxSteps = 2000
	}
	return c
}

// World is one run: its threads, its processors and its memory. A scenario
// gets one that knows nothing of earlier runs, makes its objects, which takes
// no steps, and starts its threads with Start.
type World struct {
	config  Config
	threads []*thread
	cpus    []cpu
	words   map[unsafe.Pointer]*word
	names   map[uint64]uint64 // addresses of objects, by value, to what stands for them in hashes
	labels  map[unsafe.Pointer]string
	atEnd   []func()
	crew    crew
	stock   []*word  // of which the first len(words) are in use
	ways    []choice // of drive

	running *thread // nil while the scenario is set up and while it is checked
	ending  bool    // threads unwind; nothing is a step any more
	usage   *usage
	dirty   []unsafe.Pointer // words that the running thread has used beside the announced one
	memory  uint64           // hash of all words: the sum of theirs
	steps   int
	trace   *trace
	failure error
}

// word is a piece of shared memory that some step has touched.
type word struct {
	id   uint64
	hash uint64 // its share of World.memory
	late bool   // unknown in the set-up
}

// cpu is a processor.
type cpu struct {
	pinned *thread
	buffer []pending // plain stores that others do not see yet, oldest first
}

// pending is a plain increment in a store buffer.
type pending struct {
	count *seam.Count
	by    *thread
}

func newWorld(config Config) *World {
	config = config.withDefaults()
	return &World{
		config: config,
		cpus:   make([]cpu, config.CPUs),
		words:  make(map[unsafe.Pointer]*word),
		names:  make(map[uint64]uint64),
		labels: make(map[unsafe.Pointer]string),
	}
}

// begin forgets the last run, but keeps the room that it took.
func (w *World) begin(usage *usage, trace *trace) {
	clear(w.words)
	clear(w.names)
	clear(w.labels)
	for c := range w.cpus {
		w.cpus[c] = cpu{buffer: w.cpus[c].buffer[:0]}
	}
	w.threads, w.atEnd, w.dirty = w.threads[:0], w.atEnd[:0], w.dirty[:0]
	w.running, w.ending = nil, false
	w.memory, w.steps, w.failure = 0, 0, nil
	w.usage, w.trace = usage, trace
}

// Name says what to call the object at p in traces, and what stands for its
// address in hashes: addresses differ from run to run.
func (w *World) Name(p unsafe.Pointer, name string) {
	w.names[uint64(uintptr(p))] = mixString(name)
	if w.trace != nil {
		w.labels[p] = name
	}
}

// Label says what to call the word at p; name is called if there is a trace to
// write. A scenario labels all words that it makes in its set-up: one that a
// thread is the first to meet is named after the moment, and states that are
// the same are not known to be.
func (w *World) Label(p unsafe.Pointer, name func() string) {
	if w.trace != nil {
		w.labels[p] = name()
	}
	w.touch(p)
}

// AtEnd runs check when all threads have ended and all stores are visible.
func (w *World) AtEnd(check func()) { w.atEnd = append(w.atEnd, check) }

// Fail ends the run: the scenario found something wrong. It does not return
// when a thread calls it.
func (w *World) Fail(format string, args ...any) {
	if w.failure == nil && !w.ending {
		w.failure = fmt.Errorf(format, args...)
	}
	if w.running != nil {
		panic(unwind{})
	}
}

// Forget says that nothing the running thread has read so far bears on what it
// will do, beyond what is in remains: states that differ only in what it has
// read are then the same.
func (w *World) Forget(remains uint64) {
	if t := w.running; t != nil {
		t.history = mix(mix(uint64(t.id), 1), remains)
	}
}

// Refused runs f and reports whether it panicked, as misuse does.
func (w *World) Refused(f func()) (refused bool) {
	defer func() {
		switch v := recover(); v.(type) {
		case nil:
		case unwind:
			panic(v)
		default:
			refused = true
		}
	}()
	f()
	return false
}

// unwind is the panic that ends a thread whose run is over.
type unwind struct{}

// thread is a goroutine of the scenario.
type thread struct {
	id      int
	name    string
	cpu     int // where it ran last; -1 before its first pin
	history uint64
	sums    sums
	done    bool

	op   seam.Op        // the step that it is about to take
	addr unsafe.Pointer // and on what

	task func()
	on   *coroutine // nil before its first step
}

// Start makes a thread that runs f.
func (w *World) Start(name string, f func()) {
	t := &thread{id: len(w.threads), name: name, cpu: -1, op: seam.OpGo}
	t.history = mix(uint64(t.id), 1)
	if w.running != nil {
		t.history = mixString(name) // those that come and go are all alike
	}
	t.task = func() {
		defer func() {
			t.done = true
			switch v := recover(); v.(type) {
			case nil, unwind:
			default:
				if w.failure == nil && !w.ending {
					w.failure = fmt.Errorf("%s panicked: %v\n%s", name, v, debug.Stack())
				}
			}
		}()
		f()
	}
	w.threads = append(w.threads, t)
}

// run lets t take the step that it announced and go on to its next.
func (w *World) run(t *thread) {
	w.running = t
	touched := t.addr
	if t.op != seam.OpCount {
		t.history = mix(t.history, uint64(t.op)+13) // what comes of it is mixed in when it is known
	}
	w.resume(t)
	w.running = nil
	w.rehash(touched)
	for _, addr := range w.dirty {
		w.rehash(addr)
	}
	w.dirty = w.dirty[:0]
}

// resume lets t run until it stops before a step, or ends.
func (w *World) resume(t *thread) {
	if t.on == nil {
		t.on = w.crew.take(t.task)
	}
	t.on.resume()
	if t.done {
		w.crew.giveBack(t.on)
	}
}

// close ends all threads that have begun and not ended.
func (w *World) close() {
	w.ending = true
	for _, t := range w.threads {
		if t.on != nil && !t.done {
			w.resume(t)
		}
	}
}

// finish lets all stores out and runs the checks.
func (w *World) finish() {
	for c := range w.cpus {
		w.drain(c)
	}
	for _, check := range w.atEnd {
		if w.failure == nil {
			check()
		}
	}
}

// rehash brings the share of the word at addr up to date.
func (w *World) rehash(addr unsafe.Pointer) {
	if addr == nil {
		return
	}
	at := w.words[addr]
	if at == nil {
		return
	}
	hash := mix(at.id, w.canonical(*(*uint64)(addr)))
	w.memory += hash - at.hash
	at.hash = hash
}

// touch makes the word at addr known. In the set-up, which is the same in
// every run, words are numbered; later they are named after the moment at
// which a thread first meets them.
func (w *World) touch(addr unsafe.Pointer) *word {
	at := w.words[addr]
	if at == nil {
		at = w.newWord()
		at.id = mix(uint64(len(w.words)), 2)
		if t := w.running; t != nil {
			at.id, at.late = mix(t.history, uint64(t.id)+3), true
		}
		w.words[addr] = at
		w.rehash(addr)
	}
	return at
}

// newWord returns a word that no other run has; runs have dozens each.
func (w *World) newWord() *word {
	used := len(w.words)
	if used >= len(w.stock) {
		w.stock = append(w.stock, new(word))
	}
	*w.stock[used] = word{}
	return w.stock[used]
}

// canonical replaces the address of a named object.
func (w *World) canonical(value uint64) uint64 {
	if name, ok := w.names[value]; ok {
		return name
	}
	return value
}

// hash stands for the state of the world: what is in memory and in the
// buffers, and of each thread all that it has read, which determines where it
// is and what it knows.
func (w *World) hash() uint64 {
	h := w.memory
	for _, t := range w.threads {
		if !t.done {
			h += mix(t.history, uint64(t.cpu+1))
		}
	}
	for c := range w.cpus {
		at := &w.cpus[c]
		if at.pinned != nil {
			h = mix(h, uint64(at.pinned.id)+7)
		}
		for _, store := range at.buffer {
			h = mix(h, w.words[unsafe.Pointer(store.count)].id)
			h = mix(h, uint64(store.by.id))
		}
		h = mix(h, uint64(len(at.buffer)))
	}
	return h
}

// mix combines two words into one (the finalizer of SplitMix64).
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
