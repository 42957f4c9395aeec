package verify_test

import (
	"fmt"
	"strings"

	"github.com/poolswap/poolswap"
)

// newContainer replaces a container without Readers by a new one, which is empty
// or holds any object, right or wrong.
func (m *machine) newContainer() bool {
	c := m.pick(2)
	for _, r := range m.readers {
		if r.container == c && !r.closed {
			return false
		}
	}
	if m.awaited(c) {
		return false
	}
	if m.now[c] != nil {
		m.updateTwin(c, nil)
	}
	w := m.choose(func(w *twin) bool { return w.place != limbo })
	if m.pick(4) == 0 {
		w = nil
	}
	var obj *record
	if w != nil {
		if w.place == discarded {
			m.fill(w) // the test owns discarded objects
		}
		obj = w.obj
	}
	var made *poolswap.Container[record, *record]
	out := m.write(func() { made = poolswap.NewContainer(m.pool, obj) })
	want := verdict{text: []string{"poolswap: NewContainer with a closed Pool"}}
	if !m.poolClosed {
		home, closed, published := m.homes[c], m.closed[c], m.published[c]
		m.replaced(c)
		if want = m.model.update(c, w); !want.returns() {
			m.homes[c], m.closed[c], m.published[c] = home, closed, published
			for i, text := range want.text {
				want.text[i] = strings.Replace(text, ": Update of ", ": NewContainer of ", 1)
			}
		}
	}
	m.expect(fmt.Sprintf("NewContainer with %v", w), out, want)
	if want.returns() {
		m.containers[c] = made
		m.forgetChannels(c)
	}
	return true
}

// box is an object of a type without a Ref.
type box = poolswap.Box[uint64]

func newBoxes() *poolswap.Container[box, *box] {
	pool := poolswap.NewPool(func() *box { return &box{Value: poisoned} }, func(b *box) bool {
		b.Value = poisoned
		return true
	})
	return poolswap.NewContainer(pool, new(box))
}

// swapBox replaces a box under a reader.
func (m *machine) swapBox() bool {
	before := m.boxed
	m.versions++
	m.boxed = m.versions
	var problem string
	out := m.write(func() {
		old := m.boxes.Acquire()
		next := m.boxes.GetNew()
		if next == old {
			problem = "GetNew returned the current box"
		}
		if next.Value != poisoned {
			problem = fmt.Sprintf("GetNew returned a box that was not reset: it holds %#x", next.Value)
		}
		next.Value = m.boxed
		m.boxes.Update(next)
		m.boxes.WithAcquire(func(now *box) {
			if now != next || now.Value != m.boxed {
				problem = fmt.Sprintf("the current box holds %#x, want %#x", now.Value, m.boxed)
			}
		})
		if old.Value != before {
			problem = fmt.Sprintf("a box that is held has changed to %#x, want %#x", old.Value, before)
		}
		m.boxes.Release(old)
	})
	m.expect("Boxes", out, verdict{})
	if problem != "" {
		m.t.Fatalf("%s", problem)
	}
	return true
}
