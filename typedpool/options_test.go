package typedpool_test

import (
	"testing"

	"github.com/poolswap/poolswap/typedpool"
)

func newRecord() *record { return new(record) }

func TestReset(t *testing.T) {
	t.Run("an object is reset before its next user sees it", func(t *testing.T) {
		p := typedpool.NewWithOptions(newRecord, typedpool.Options[record]{
			Reset: func(r *record) bool { r.id, r.next = -1, nil; return true },
		})
		eventually(t, "Get returns the object just put", func() bool {
			x := &record{id: 7, name: "kept", next: newRecord()}
			p.Put(x)
			y := p.Get()
			if y == x && *y != (record{id: -1, name: "kept"}) {
				t.Errorf("came back as %+v", *y)
			}
			return y == x
		})
	})
	t.Run("an object whose Reset returns false is dropped", func(t *testing.T) {
		p := typedpool.NewWithOptions(newRecord, typedpool.Options[record]{
			Reset: func(r *record) bool { return r.id != 13 },
		})
		for range 100 {
			p.Put(&record{id: 13})
			if x := p.Get(); x.id == 13 {
				t.Fatal("a dropped object came back")
			}
		}
	})
	t.Run("Reset does not run for nil", func(t *testing.T) {
		p := typedpool.NewWithOptions(newRecord, typedpool.Options[record]{
			Reset: func(r *record) bool { t.Errorf("Reset(%v)", r); return true },
		})
		p.Put(nil)
	})
	t.Run("a panic of Reset propagates and loses the object only", func(t *testing.T) {
		p := typedpool.NewWithOptions(newRecord, typedpool.Options[record]{
			Reset: func(r *record) bool {
				if r.id == 13 {
					panic("bad luck")
				}
				return true
			},
		})
		for range 100 {
			mustPanic(t, func() { p.Put(&record{id: 13}) }, "bad luck")
			if x := p.Get(); x.id == 13 {
				t.Fatal("an object whose Reset panicked came back")
			}
		}
		eventually(t, "the pool still recycles", func() bool {
			x := &record{id: 1}
			p.Put(x)
			return p.Get() == x
		})
	})
}

func TestMaxSize(t *testing.T) {
	resets := 0
	p := typedpool.NewWithOptions(newRecord, typedpool.Options[record]{
		Reset:   func(*record) bool { resets++; return true },
		Size:    func(r *record) int { return r.id },
		MaxSize: 100,
	})
	t.Run("an object of the largest size is kept", func(t *testing.T) {
		eventually(t, "Get returns the object just put", func() bool {
			x := &record{id: 100}
			p.Put(x)
			return p.Get() == x
		})
	})
	t.Run("a larger object is dropped without being reset", func(t *testing.T) {
		resets = 0
		for range 100 {
			p.Put(&record{id: 101})
			if x := p.Get(); x.id == 101 {
				t.Fatal("an object over the limit came back")
			}
		}
		if resets != 0 {
			t.Errorf("%d objects over the limit were reset", resets)
		}
	})
	t.Run("the limit works without Reset", func(t *testing.T) {
		p := typedpool.NewWithOptions(newRecord, typedpool.Options[record]{
			Size: func(r *record) int { return r.id }, MaxSize: 100,
		})
		eventually(t, "Get returns the object just put", func() bool {
			x := &record{id: 100}
			p.Put(&record{id: 101})
			p.Put(x)
			y := p.Get()
			if y.id == 101 {
				t.Error("an object over the limit came back")
			}
			return y == x
		})
	})
}

func TestWrongOptions(t *testing.T) {
	size := func(*record) int { return 0 }
	mustPanic(t, func() { typedpool.NewWithOptions(nil, typedpool.Options[record]{}) },
		"typedpool: NewWithOptions", "nil function")
	mustPanic(t, func() { typedpool.NewWithOptions(newRecord, typedpool.Options[record]{MaxSize: 1}) },
		"typedpool: NewWithOptions", "no Size")
	for _, limit := range []int{0, -1} {
		mustPanic(t, func() {
			typedpool.NewWithOptions(newRecord, typedpool.Options[record]{Size: size, MaxSize: limit})
		}, "typedpool: NewWithOptions", "no positive MaxSize")
	}
}
