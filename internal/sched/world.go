//go:build poolswapsched

package sched

import (
	"fmt"
	"unsafe"

	"github.com/poolswap/poolswap/internal/seam"
)

// Config bounds a World.
type Config struct {
	CPUs     int // processors; 0 stands for 2
	Stripes  int // stripes of each object; 0 stands for CPUs. Processors beyond them count in the overflow
	Depth    int // plain stores a buffer holds; 0 stands for 2
	MaxSteps int // longest run, anything longer is reported as a livelock; 0 stands for 2000

	EveryOrder bool // Explore takes all transitions, without sleep sets
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

// World is one run: its threads, its processors and its memory. A scenario gets
// a fresh World, makes its objects (which takes no steps), names them (Name,
// Label, Counters), registers its own state (Watch), and starts its threads.
type World struct {
	config  Config
	threads []*thread
	cpus    []cpu
	memory  memory
	state   state
	labels  map[unsafe.Pointer]string
	whenSet map[unsafe.Pointer]func()
	atEnd   []func()
	idle    coroutines
	ways    []choice // of drive

	running *thread // nil while the scenario is set up and while it is checked
	ending  bool    // threads unwind; nothing is a step anymore
	usage   *usage
	dirty   []*word   // used by the running thread besides the announced one
	uses    footprint // of the current or last transition
	steps   int
	trace   *trace
	failure error
}

// cpu is a processor.
type cpu struct {
	pinned *thread
	buffer []pending // plain stores that others do not see yet, oldest first
}

// pending is a plain increment in a store buffer.
type pending struct {
	count *word
	by    *thread
}

func newWorld(config Config) *World {
	config = config.withDefaults()
	return &World{
		config: config,
		cpus:   make([]cpu, config.CPUs),
		memory: newMemory(),
		labels: make(map[unsafe.Pointer]string),

		whenSet: make(map[unsafe.Pointer]func()),
	}
}

// begin forgets the last run, but keeps its memory.
func (w *World) begin(usage *usage, trace *trace) {
	w.memory.clear()
	clear(w.labels)
	clear(w.whenSet)
	for c := range w.cpus {
		w.cpus[c] = cpu{buffer: w.cpus[c].buffer[:0]}
	}
	w.threads, w.atEnd, w.dirty, w.uses, w.state.beside = w.threads[:0], w.atEnd[:0], w.dirty[:0], w.uses[:0], w.state.beside[:0]
	w.running, w.ending = nil, false
	w.steps, w.failure = 0, nil
	w.usage, w.trace = usage, trace
}

// AtEnd runs check once all threads have ended and all stores are visible.
func (w *World) AtEnd(check func()) { w.atEnd = append(w.atEnd, check) }

// Fail ends the run with a failure. Called by a thread, it does not return.
func (w *World) Fail(format string, args ...any) {
	if w.failure == nil && !w.ending {
		w.failure = fmt.Errorf(format, args...)
	}
	if w.running != nil {
		panic(unwind{})
	}
}

// Panics runs f and reports whether it panicked, as misuse does.
func (w *World) Panics(f func()) (panicked bool) {
	defer func() {
		switch v := recover(); v.(type) {
		case nil:
		case unwind:
			panic(v)
		default:
			panicked = true
		}
	}()
	f()
	return false
}

// unwind is the panic that ends a thread whose run is over.
type unwind struct{}

// run lets t take the step that it announced and continue to its next.
func (w *World) run(t *thread) {
	w.running = t
	at := t.at
	if t.op != seam.OpCount { // those are in sums
		t.learn(uint64(t.op)) // Observe adds the result
	}
	w.resume(t)
	w.running = nil
	w.memory.rehash(at)
	for _, at := range w.dirty {
		w.memory.rehash(at)
	}
	w.dirty = w.dirty[:0]
}

// resume lets t run until it stops before a step, or ends.
func (w *World) resume(t *thread) {
	if t.on == nil {
		t.on = w.idle.take(t.task)
	}
	t.on.resume()
	if t.done {
		w.idle.giveBack(t.on)
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

// finish flushes all stores and runs the checks.
func (w *World) finish() {
	defer func(uses int) { w.uses = w.uses[:uses] }(len(w.uses)) // the checks belong to no transition
	for c := range w.cpus {
		w.drain(c)
	}
	for _, check := range w.atEnd {
		if w.failure == nil {
			check()
		}
	}
}
