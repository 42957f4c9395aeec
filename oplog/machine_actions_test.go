package oplog_test

import (
	"errors"
	"fmt"
	"slices"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/oplog"
	"github.com/poolswap/poolswap/oplog/oplogtest"
)

// publish publishes some operations, with Publish or PublishFunc. If fails, one
// function of the user's fails: Apply at one of its calls, unless there are too
// few, Copy if it is called, or the one that PublishFunc got.
func (m *machine) publish(fails bool) {
	ops := m.operations(m.choose(31))
	way := ""
	if fails {
		way = m.arm()
		if m.choose(3) == 0 {
			m.copyFails = true
		} else {
			m.applies = m.choose(len(ops)*2 + 2)
		}
	}
	ctx, ended := m.context()
	m.failed, m.copying = nil, false
	known, given := m.kept(), slices.Clone(ops)
	derives, fails := m.choose(4) == 0, fails && m.choose(4) == 0
	derived := false
	a := m.call(way, func() (uint64, error) {
		if !derives {
			return m.log.Publish(ctx, given...)
		}
		return m.log.PublishFunc(ctx, func(current *table) ([]operation, error) {
			if current != nil {
				m.wantHash(current, m.version)
			}
			if derived = fails; fails {
				return given, m.fail()
			}
			return given, nil
		})
	})
	clear(given) // the log has a copy
	m.applies, m.copyFails = -1, false
	switch {
	case derived && len(ops) == 0 && way == "conflicts":
		m.seen["empty"]++
	case derived && way == "conflicts" && errors.Is(a.err, poolswap.ErrLimit):
		m.wantRefusal(a, ended) // before the conflict was found
	case derived:
		m.wantFailure(way, a)
		m.seen["in ops"]++
	case m.failed != nil:
		m.wantFailure(way, a)
		m.seen["in Apply"]++
		var e *oplog.ApplyError
		if errors.As(a.err, &e) {
			m.wantApplyError(e, ops, known)
		}
	case m.copying:
		m.wantFailure(way, a)
		if want := fmt.Sprintf("oplog: copying version %d: bad", m.version); way == failures[0].name && a.err.Error() != want {
			m.t.Fatalf("the error is %q, want %q", a.err, want)
		}
		m.seen["in Copy"]++
	case a.version != 0 && a.err == nil && len(ops) > 0 && !ended:
		next := newPlain()
		if m.current != nil {
			next = m.current.clone()
		}
		next.apply(ops...)
		m.logPublished(a.version, next, ops)
		m.seen["operations"] += len(ops)
	case len(ops) == 0 && !(derives && ended) && a == attempt{returned: true}:
		m.seen["empty"]++
	default:
		m.wantRefusal(a, ended)
	}
}

// kept returns the operations that an object can have missed.
func (m *machine) kept() []operation {
	if m.version != m.last {
		return nil // the log starts anew
	}
	return slices.Concat(m.batches...)
}

// logPublished notes a publication of the log: ops, or nil for Replace.
func (m *machine) logPublished(version uint64, content *plain, ops []operation) {
	if m.version != m.last || ops == nil {
		m.batches = nil
	}
	if ops != nil {
		m.batches = append(m.batches, ops)
	}
	n := 0
	for _, b := range m.batches {
		n += len(b)
	}
	for n > m.options.Keep {
		n -= len(m.batches[0])
		m.batches = m.batches[1:]
	}
	m.becomes(version, content)
	m.last = version
	if kept := m.log.Stats().Kept; kept != n {
		m.t.Fatalf("%d operations are kept, want %d", kept, n)
	}
}

// replace publishes a full load, or one that fails.
func (m *machine) replace() {
	ops, way := m.operations(m.choose(31)), ""
	if m.choose(2) == 0 {
		way = m.arm()
	}
	ctx, ended := m.context()
	filled := false
	a := m.call(way, func() (uint64, error) {
		return m.log.Replace(ctx, func(next *table) error {
			filled = true
			for _, op := range ops {
				if err := applyOperation(next, op); err != nil {
					return err
				}
			}
			if way != "" {
				spoil(next)
				return m.fail()
			}
			return nil
		})
	})
	switch {
	case !filled:
		m.wantRefusal(a, ended)
	case way != "":
		m.wantFailure(way, a)
		m.seen["in fill"]++
	case a.version == 0 || a.err != nil:
		m.t.Fatalf("Replace: %+v", a)
	default:
		content := newPlain()
		content.apply(ops...)
		m.logPublished(a.version, content, nil)
		m.seen["replaced"]++
	}
}

// spoil gives a free object back with other content than that of its version.
func (m *machine) spoil() {
	if free, err := m.log.Pool().TryGet(); err == nil {
		spoil(free)
		m.log.Pool().Release(free)
		m.seen["spoiled"]++
	}
}

// publishPast makes another object current, with Update, whose content is anything
// at all, or empties the container.
func (m *machine) publishPast() {
	if m.choose(4) == 0 {
		m.log.Container().Update(nil)
		m.becomes(0, nil)
		m.seen["emptied"]++
		return
	}
	obj := newTable()
	if m.choose(2) == 0 {
		if free, err := m.log.Pool().TryGet(); err == nil { // else a literal, which is never refused
			obj = free
		}
	}
	for _, op := range m.operations(1 + m.choose(5)) {
		applyOperation(obj, op)
	}
	content := plainOf(obj)
	m.log.Container().Update(obj)
	m.becomes(m.log.Container().Version(), content)
	m.seen["updated"]++
}

// foreign publishes with the container's Publish, or fails to.
func (m *machine) foreign() {
	ops, way := m.operations(m.choose(5)), ""
	if m.choose(3) == 0 {
		way = failures[m.choose(len(failures))].name
	}
	ctx, ended := m.context()
	var content *plain
	a := m.call(way, func() (uint64, error) {
		return m.log.Container().Publish(ctx, func(next, _ *table) error {
			for _, op := range ops {
				applyOperation(next, op)
			}
			content = plainOf(next)
			for _, f := range failures {
				if f.name == way {
					return f.fail()
				}
			}
			return nil
		})
	})
	switch {
	case content == nil:
		m.wantRefusal(a, ended)
	case way != "":
		m.wantFailure(way, a)
	case a.version == 0 || a.err != nil:
		m.t.Fatalf("Publish of the container: %+v", a)
	default:
		m.becomes(a.version, content)
		m.seen["foreign"]++
	}
}

// elsewhere publishes in the other container of the pool.
func (m *machine) elsewhere() {
	if m.choose(4) == 0 {
		m.other.Update(nil)
		m.otherHash = 0
		return
	}
	ops, ctx := m.operations(3), endsInsteadOfWaiting(m.t)
	hash := uint64(0)
	version, err := m.other.Publish(ctx, func(next, _ *table) error {
		for _, op := range ops {
			applyOperation(next, op)
		}
		hash = next.hash()
		return nil
	})
	if version != 0 {
		m.otherHash = hash
		m.seen["elsewhere"]++
	} else if m.options.Pool.MaxLive == 0 || !errors.Is(err, poolswap.ErrLimit) {
		m.t.Fatal(err)
	}
}

// verify brings every free object up and compares it.
func (m *machine) verify() {
	if err := oplogtest.Verify(m.log, func(a, b *table) bool { return a.hash() == b.hash() }); err != nil {
		m.t.Fatal(err)
	}
	m.seen["verified"]++
}
