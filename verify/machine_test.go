package verify_test

import (
	"bytes"
	"errors"
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/internal/test/pooltest"
)

// machine runs a sequence of operations on a pool and on the model, and fails
// where they differ. Each operation runs on its own goroutine, so references are
// acquired and released on different processors.
type machine struct {
	model
	t    tb
	pick func(n int) int // the source of all choices: a number below n

	pool       *poolswap.Pool[record, *record]
	poolCopy   *poolswap.Pool[record, *record] // copied while no sweeper writes to pool
	containers [2]*poolswap.Container[record, *record]
	copied     *poolswap.Container[record, *record] // a copy of an empty one that nothing else uses
	readers    []*reader
	held       []*twin // one for each reference that is not a Reader's
	stranger   *record // belongs to another pool
	boxes      *poolswap.Container[box, *box]
	boxed      uint64 // the value of the current box
	next       plan   // the next result of the factory
	ids        int
	versions   uint64

	waiters  []*waiter  // calls that wait
	channels []*channel // that Changed returned open

	collecting bool // the garbage collector has something to find
	atGate     bool // the sweeper waits at the gate

	gate    *gate
	caller  atomic.Uint64 // the goroutine of the current operation
	reading atomic.Bool   // the current operation is a reader's

	mu   sync.Mutex // guards the fields that hooks write
	seen struct {
		trail   []string
		reports []string
		wrong   []string
	}
}

// reader is a Reader and its model.
type reader struct {
	*poolswap.Reader[record]
	container int
	holds     *twin
	closed    bool
}

// newMachine makes a pool and two containers as pick chooses.
func newMachine(t tb, pick func(n int) int) *machine {
	m := &machine{t: t, pick: pick, gate: newGate()}
	options := poolswap.Options[record]{
		Spares:   []int{0, poolswap.NoSpares, 1, 3}[pick(4)],
		MaxLive:  []int{0, 0, 3, 6}[pick(4)],
		Portable: pick(2) == 1,
		Report:   m.report,
	}
	switch options.Spares {
	case poolswap.NoSpares:
	case 0:
		m.spares, m.follows = poolswap.DefaultSpares, true
	default:
		m.spares = options.Spares
	}
	if m.discards = pick(2) == 1; m.discards {
		options.Discard = func(obj *record) { m.hook("discard", obj) }
	}
	reset := m.reset
	if m.resets = pick(4) != 0; !m.resets {
		reset = nil
	}
	m.maxLive = options.MaxLive
	m.overflows = !m.discards && m.maxLive == 0 && m.spares > 0

	m.pool = poolswap.NewPoolWithOptions(m.factory, reset, options)
	m.poolCopy = pooltest.CopyOf(m.pool)
	m.copied = pooltest.CopyOf(poolswap.NewEmptyContainer(m.pool))
	now := m.pool.Stats()
	m.stats.Reads.Counting, m.stats.Reads.Path = now.Reads.Counting, now.Reads.Path
	for c := range m.containers {
		m.containers[c] = poolswap.NewEmptyContainer(m.pool)
		m.replaced(c)
	}
	m.stranger = &record{id: -1}
	poolswap.NewContainer(poolswap.NewPool(func() *record { return new(record) }, nil), m.stranger)
	m.boxes = newBoxes()
	return m
}

// factory follows the plan.
func (m *machine) factory() *record {
	m.onCaller("the factory")
	p := m.next
	m.next = plan{}
	switch {
	case p.panics:
		panic(errFactory)
	case p.null:
		return nil
	case p.other != nil:
		return p.other
	case p.again != nil:
		return p.again.obj
	}
	return m.newRecord(0)
}

func (m *machine) newRecord(version uint64) *record {
	obj := &record{id: m.ids}
	m.ids++
	obj.fill(version)
	return obj
}

// reset poisons obj and does what its fate says.
func (m *machine) reset(obj *record) bool {
	if goroutine() != m.caller.Load() {
		m.gate.pass()
	}
	obj.fill(poisoned)
	m.hook("reset", obj)
	switch obj.fate {
	case fatePanics:
		panic(errFate)
	case fateExits:
		runtime.Goexit()
	}
	return obj.fate == fateKept
}

// hook records a call of a hook, which must not be on a reader.
func (m *machine) hook(name string, obj *record) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.seen.trail = append(m.seen.trail, fmt.Sprintf("%s %d", name, obj.id))
	if goroutine() == m.caller.Load() && m.reading.Load() {
		m.seen.wrong = append(m.seen.wrong, name+" on a reader")
	}
}

// report records a call of Report, which must not be on a reader.
func (m *machine) report(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.seen.reports = append(m.seen.reports, describeReport(err))
	if goroutine() == m.caller.Load() && m.reading.Load() {
		m.seen.wrong = append(m.seen.wrong, "Report on a reader")
	}
}

// describeReport returns the kind and fields of a report, or the report's text if
// that does not mention the fields.
func describeReport(err error) string {
	text := err.Error()
	switch e := err.(type) {
	case *poolswap.HookPanicError:
		where := "elsewhere"
		if bytes.Contains(e.Stack, []byte("(*machine).reset")) {
			where = "in reset"
		}
		if cause, _ := e.Value.(error); errors.Is(e.Unwrap(), cause) && strings.Contains(text, fmt.Sprint(e.Value)) {
			return fmt.Sprintf("a hook panicked %s with %v", where, e.Value)
		}
	case *poolswap.LeakError:
		if strings.Contains(text, e.Type) && strings.Contains(text, strconv.Itoa(e.Held)) {
			return fmt.Sprintf("a %s leaked, held %d times", e.Type, e.Held)
		}
	case *poolswap.OverReleaseError:
		if strings.Contains(text, e.Type) && strings.Contains(text, fmt.Sprintf("%d too many", e.Released-e.Acquired)) {
			return fmt.Sprintf("a %s was acquired %d times and released %d times", e.Type, e.Acquired, e.Released)
		}
	}
	return text
}

// onCaller records a call that must come from the current operation.
func (m *machine) onCaller(name string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if goroutine() != m.caller.Load() || m.reading.Load() {
		m.seen.wrong = append(m.seen.wrong, name+" ran elsewhere than in a Get")
	}
}

// read runs an operation of a reader.
func (m *machine) read(op func()) outcome {
	m.reading.Store(true)
	defer m.reading.Store(false)
	return m.write(op)
}

// write runs an operation of a writer.
func (m *machine) write(op func()) outcome {
	return onAnother(func() {
		m.caller.Store(goroutine())
		op()
	})
}

// expect fails unless a call ended as the model says.
func (m *machine) expect(what string, got outcome, want verdict) {
	m.t.Helper()
	m.t.Logf("%s", what)
	ok := got.exited == want.exits
	switch {
	case want.text != nil:
		text, is := got.panicked.(string)
		for _, part := range want.text {
			is = is && strings.Contains(text, part)
		}
		ok = ok && is
	default:
		ok = ok && got.panicked == want.value
	}
	if !ok {
		m.t.Fatalf("%s: ended with %+v, want %+v", what, got, want)
	}
}

// choose picks a twin that fits, or returns nil.
func (m *machine) choose(fits func(*twin) bool) *twin {
	var list []*twin
	for _, w := range m.twins {
		if fits(w) {
			list = append(list, w)
		}
	}
	if len(list) == 0 {
		return nil
	}
	return list[m.pick(len(list))]
}

// holds returns how often the test holds w, without its Readers.
func (m *machine) holds(w *twin) (n int) {
	for _, h := range m.held {
		if h == w {
			n++
		}
	}
	return n
}

// dropHeld removes one reference to w from those that the test holds.
func (m *machine) dropHeld(w *twin) { removeFirst(&m.held, w) }
