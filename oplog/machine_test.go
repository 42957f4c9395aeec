package oplog_test

import (
	"context"
	"runtime"
	"slices"
	"testing"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/oplog"
)

// machine takes actions on a Log and on the oracle, and compares them after each.
// choose decides which: at random, or by the input of the fuzzer.
type machine struct {
	t       testing.TB
	choose  func(n int) int // one of 0 to n-1
	log     *tableLog
	options tableOptions
	number  uint64         // of the last operation, which is its value: no two are alike
	seen    map[string]int // counts of events

	// The oracle.
	current *plain            // nil: the container is empty
	version uint64            // of current, or 0
	newest  uint64            // version that was published
	hashes  map[uint64]uint64 // of each version
	batches [][]operation     // that the log keeps
	last    uint64            // version that the log published

	held   []heldTable
	reader *poolswap.Reader[table]

	other     *poolswap.Container[table, *table] // of the same pool
	otherHash uint64

	// The next failure. Apply and Copy look at it.
	applies   int // calls of Apply until one fails; none does below 0
	copyFails bool
	fail      func() error
	failed    *operation // that Apply failed for
	copying   bool       // Copy failed
}

// heldTable is an object that a reader holds, and the version of it.
type heldTable struct {
	obj     *table
	version uint64
}

func newMachine(t testing.TB, kept, limit, spares int, choose func(n int) int) *machine {
	m := &machine{t: t, choose: choose, seen: map[string]int{}, applies: -1, hashes: map[uint64]uint64{}}
	m.options = newOptions()
	m.options.Keep, m.options.Pool.MaxLive, m.options.Pool.Spares = kept, limit, spares
	m.options.Apply = m.apply
	m.options.Copy = m.copy
	log, err := oplog.New(m.options)
	if err != nil {
		t.Fatal(err)
	}
	m.log = log
	m.becomes(log.Container().Version(), newPlain())
	m.last = m.version
	m.reader = log.Container().NewReader()
	m.other = poolswap.NewEmptyContainer(log.Pool())
	return m
}

// becomes notes a publication. The container is emptied by version 0.
func (m *machine) becomes(version uint64, content *plain) {
	m.version, m.current = version, content
	if version == 0 {
		return
	}
	if version <= m.newest {
		m.t.Fatalf("version %d after %d", version, m.newest)
	}
	m.newest = version
	m.hashes[version] = content.hash()
}

// operations returns n operations, on few keys.
func (m *machine) operations(n int) []operation {
	ops := make([]operation, n)
	for i := range ops {
		m.number++
		ops[i] = operation{kind: kind(m.choose(4)), key: uint16(m.choose(32)), value: m.number}
	}
	return ops
}

// context returns one that has ended, now and then. The others end when
// something is about to wait: one goroutine can wait for nothing but itself.
func (m *machine) context() (ctx context.Context, ended bool) {
	ctx, cancel := context.WithCancel(context.Background())
	if m.choose(40) == 0 {
		cancel()
		return ctx, true
	}
	return waiting{ctx, cancel}, false
}

// wantHash fails the test unless an object has the content of its version.
func (m *machine) wantHash(obj *table, version uint64) {
	m.t.Helper()
	want, known := m.hashes[version]
	if got := obj.hash(); got != want || !known {
		m.t.Fatalf("version %d (published: %v) reads %s, which was not published", version, known, contentOf(obj))
	}
}

func (m *machine) acquire() {
	if obj := m.log.Container().Acquire(); obj != nil {
		m.held = append(m.held, heldTable{obj, m.log.Container().VersionOf(obj)})
	}
	if len(m.held) > 6 {
		m.release()
	}
}

func (m *machine) release() {
	if len(m.held) == 0 {
		return
	}
	i := m.choose(len(m.held))
	h := m.held[i]
	m.held = slices.Delete(m.held, i, i+1)
	m.wantHash(h.obj, h.version)
	m.log.Container().Release(h.obj)
}

// step takes one action and compares the current object with the oracle.
func (m *machine) step() {
	m.t.Helper()
	switch m.choose(64) {
	default:
		m.publish(false)
	case 16, 17, 18, 19:
		m.publish(true)
	case 20:
		m.replace()
	case 21:
		m.publishPast()
	case 22:
		m.foreign()
	case 23:
		m.elsewhere()
	case 24, 25, 32, 33:
		m.acquire()
	case 26, 27, 28, 34, 35, 36:
		m.release()
	case 29:
		if obj := m.reader.Load(); obj != nil {
			m.wantHash(obj, m.log.Container().VersionOf(obj))
		}
	case 30:
		m.reader.Park()
		if m.choose(8) == 0 {
			m.log.Pool().Trim()
		}
	case 31:
		m.verify()
	case 37:
		m.spoil()
	}
	m.check()
}

// check compares the current object with the oracle.
func (m *machine) check() {
	m.t.Helper()
	c := m.log.Container()
	obj := c.Acquire()
	defer c.Release(obj)
	if c.Version() != m.version || c.VersionOf(obj) != m.version || (obj == nil) != (m.current == nil) {
		m.t.Fatalf("current is version %d, want %d", c.VersionOf(obj), m.version)
	}
	if obj != nil {
		m.wantHash(obj, m.version)
	}
	m.other.WithAcquire(func(obj *table) {
		if obj != nil && obj.hash() != m.otherHash {
			m.t.Fatal("the current object of the other container has changed")
		}
	})
}

// end releases everything; then the pool closes, and the log is right.
func (m *machine) end() {
	m.t.Helper()
	for len(m.held) > 0 {
		m.release()
	}
	m.reader.Close()
	m.verify()
	m.check()
	stats := m.log.Stats()
	m.seen["catch-ups"], m.seen["copies"] = int(stats.CatchUps), int(stats.Copies)
	closeLog(m.t, m.log)
	runtime.KeepAlive(m.other)
}
