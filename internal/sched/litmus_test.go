//go:build poolswapsched

package sched_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/poolswap/poolswap/internal/sched"
	"github.com/poolswap/poolswap/internal/seam"
)

// program starts threads that store the values that they read in read.
type program func(w *sched.World, read []uint64)

// counts makes counters of those names.
func counts(w *sched.World, names string) []*seam.Count {
	var made []*seam.Count
	for _, name := range strings.Fields(names) {
		c := new(seam.Count)
		w.Label(unsafe.Pointer(c), name)
		made = append(made, c)
	}
	return made
}

// word makes a word of that name.
func word(w *sched.World, name string) *seam.Uint64 {
	made := new(seam.Uint64)
	w.Label(unsafe.Pointer(made), name)
	return made
}

// pinned starts a thread that is pinned to a processor while it runs f.
func pinned(w *sched.World, name string, f func()) {
	w.Start(name, func() {
		seam.Pin()
		f()
		seam.Unpin()
	})
}

// outcomes explores the program, which makes that many reads, and returns every
// combination of values that it can read, sorted.
func outcomes(t *testing.T, config sched.Config, reads int, p program) ([]string, sched.Result) {
	t.Helper()
	seen := map[string]bool{}
	r := sched.Explore(config, func(w *sched.World) {
		read := make([]uint64, reads)
		w.Watch(func() (h uint64) {
			for _, value := range read {
				h = sched.Mix(h, value)
			}
			return h
		})
		p(w, read)
		w.AtEnd(func() { seen[strings.Trim(fmt.Sprint(read), "[]")] = true })
	}, 0)
	if r.Failure != nil || !r.Complete {
		t.Fatalf("complete: %v, failure: %v", r.Complete, r.Failure)
	}
	return slices.Sorted(maps.Keys(seen)), r
}

func nothing() {}

// storeBuffering is two threads that each count, run left or right, and read the
// other's counter.
func storeBuffering(count func(*seam.Count), left, right func()) program {
	return func(w *sched.World, read []uint64) {
		c := counts(w, "x y")
		x, y := c[0], c[1]
		pinned(w, "left", func() { count(x); left(); read[0] = y.Load() })
		pinned(w, "right", func() { count(y); right(); read[1] = x.Load() })
	}
}

func membarrier() { _ = seam.Membarrier() }

// deep is a thread that increments x and y and reads z, and another that
// increments z and reads x.
func deep(w *sched.World, read []uint64) {
	c := counts(w, "x y z")
	x, y, z := c[0], c[1], c[2]
	pinned(w, "left", func() { x.IncPlain(); y.IncPlain(); read[0] = z.Load() })
	w.Start("right", func() { z.Inc(); read[1] = x.Load() })
}

// lostUpdate is two threads that each increment a word by a load and a store.
func lostUpdate(lock, unlock func()) program {
	return func(w *sched.World, read []uint64) {
		x := word(w, "x")
		for _, name := range []string{"left", "right"} {
			w.Start(name, func() {
				lock()
				x.Store(x.Load() + 1)
				unlock()
			})
		}
		w.AtEnd(func() { read[0] = x.Load() })
	}
}

// sums is a thread that adds up the released, then the acquired counters of an
// object with two stripes, if time returns true. use starts the object's users.
func sums(use func(w *sched.World, acquired, released []*seam.Count) (time func() bool)) program {
	return func(w *sched.World, read []uint64) {
		c := counts(w, "a0 a1 r0 r1")
		w.Counters("object", 2, func(k int) (acquired, released *seam.Count) { return c[k], c[2+k] })
		time := use(w, c[:2], c[2:])
		w.Start("summer", func() {
			if !time() {
				return
			}
			released := c[2].Load() + c[3].Load()
			acquired := c[0].Load() + c[1].Load()
			w.Yield() // only its own history knows the sums here
			read[0] = 1 + bit(acquired != released)
		})
		w.Start("bystander", w.Yield) // leaves a choice after the last count
	}
}

// twice is a thread that uses the object twice, each time on two stripes.
func twice(w *sched.World, acquired, released []*seam.Count) (time func() bool) {
	w.Start("user", func() {
		for k := range acquired {
			acquired[k].Inc()
			released[1-k].Inc()
		}
	})
	return func() bool { return true }
}

// perhaps is a thread that acquires the object or not. It is time once it has
// decided.
func perhaps(w *sched.World, acquired, _ []*seam.Count) (time func() bool) {
	wanted, decided := word(w, "wanted"), word(w, "decided")
	w.Start("asker", func() { wanted.Store(1) })
	w.Start("user", func() {
		if wanted.Load() == 1 {
			acquired[0].Inc()
		}
		decided.Store(1)
	})
	return func() bool { return decided.Load() == 1 }
}

// setOnce is a thread that sets a word that another looks for, after each has used a
// word.
func setOnce(w *sched.World, read []uint64) {
	x, made := word(w, "x"), new(seam.SetOnce[uint64])
	w.Label(made.Set(), "made")
	w.Start("maker", func() {
		x.Store(1)
		made.CompareAndSwap(nil, new(uint64))
	})
	w.Start("reader", func() {
		read[0] = x.Load()
		read[1] = bit(made.Load() != nil)
	})
}

// accounts is two threads that add to a word and subtract again, and a third
// that reads it.
func accounts(w *sched.World, read []uint64) {
	x := word(w, "x")
	for _, name := range []string{"left", "right"} {
		w.Start(name, func() { x.Add(1); x.Add(^uint64(0)) })
	}
	w.Start("reader", func() { read[0] = x.Load() })
	w.AtEnd(func() { read[1] = x.Load() })
}

var litmus = []struct {
	name   string
	config sched.Config
	reads  int
	program
	want string // the outcomes, worked out by hand, separated by commas
}{
	{"store buffering: plain stores wait while loads go on", sched.Config{}, 2, storeBuffering((*seam.Count).IncPlain, nothing, nothing), "0 0, 0 1, 1 0, 1 1"},
	{"store buffering, with fences", sched.Config{}, 2, storeBuffering((*seam.Count).IncPlain, seam.Fence, seam.Fence), "0 1, 1 0, 1 1"},
	{"store buffering, with a fence on one side", sched.Config{}, 2, storeBuffering((*seam.Count).IncPlain, seam.Fence, nothing), "0 0, 0 1, 1 0, 1 1"},
	{"store buffering, counted atomically", sched.Config{}, 2, storeBuffering((*seam.Count).Inc, nothing, nothing), "0 1, 1 0, 1 1"},
	{"store buffering: a membarrier on one side is a fence on both", sched.Config{}, 2, storeBuffering((*seam.Count).IncPlain, nothing, membarrier), "0 1, 1 0, 1 1"},
	// A real processor allows less: its loads read its own buffer.
	{"store buffering on one processor: the next thread need not see the buffered store", sched.Config{CPUs: 1}, 2, storeBuffering((*seam.Count).IncPlain, nothing, nothing), "0 0, 0 1, 1 0"},
	{"message passing: plain stores become visible in program order", sched.Config{}, 2, func(w *sched.World, read []uint64) {
		c := counts(w, "data flag")
		data, flag := c[0], c[1]
		pinned(w, "sender", func() { data.IncPlain(); flag.IncPlain() })
		w.Start("receiver", func() { read[0] = flag.Load(); read[1] = data.Load() })
	}, "0 0, 0 1, 1 1"},
	{"load buffering: no store passes an older load", sched.Config{}, 2, func(w *sched.World, read []uint64) {
		c := counts(w, "x y")
		x, y := c[0], c[1]
		pinned(w, "left", func() { read[0] = x.Load(); y.IncPlain() })
		pinned(w, "right", func() { read[1] = y.Load(); x.IncPlain() })
	}, "0 0, 0 1, 1 0"},
	{"coherence: no load reads an older value than the load before", sched.Config{}, 2, func(w *sched.World, read []uint64) {
		x := counts(w, "x")[0]
		pinned(w, "writer", x.IncPlain)
		w.Start("reader", func() { read[0] = x.Load(); read[1] = x.Load() })
	}, "0 0, 0 1, 1 1"},
	{"a thread reads its own buffered store", sched.Config{}, 2, func(w *sched.World, read []uint64) {
		x := counts(w, "x")[0]
		pinned(w, "writer", func() { x.IncPlain(); read[0] = x.Load() })
		w.Start("reader", func() { read[1] = x.Load() })
	}, "1 0, 1 1"},
	{"independent reads: all threads see stores in one order", sched.Config{}, 4, func(w *sched.World, read []uint64) {
		c := counts(w, "x y")
		x, y := c[0], c[1]
		pinned(w, "writer of x", x.IncPlain)
		pinned(w, "writer of y", y.IncPlain)
		w.Start("x first", func() { read[0] = x.Load(); read[1] = y.Load() })
		w.Start("y first", func() { read[2] = y.Load(); read[3] = x.Load() })
	}, "0 0 0 0, 0 0 0 1, 0 0 1 0, 0 0 1 1, 0 1 0 0, 0 1 0 1, 0 1 1 0, 0 1 1 1, " +
		"1 0 0 0, 1 0 0 1, 1 0 1 1, 1 1 0 0, 1 1 0 1, 1 1 1 0, 1 1 1 1"},
	{"a full buffer flushes its oldest store", sched.Config{Depth: 1}, 2, deep, "0 1, 1 0, 1 1"},
	{"a buffer of two holds two stores", sched.Config{Depth: 2}, 2, deep, "0 0, 0 1, 1 0, 1 1"},
	{"a thread that changes processors makes its stores visible", sched.Config{}, 3, func(w *sched.World, read []uint64) {
		c := counts(w, "x y")
		x, y := c[0], c[1]
		w.Start("traveller", func() {
			from := seam.Pin()
			x.IncPlain()
			seam.Unpin()
			if to := seam.Pin(); to != from {
				read[0] = 1
			}
			read[1] = y.Load()
			seam.Unpin()
		})
		w.Start("other", func() { y.Inc(); read[2] = x.Load() })
	}, "0 0 0, 0 0 1, 0 1 0, 0 1 1, 1 0 1, 1 1 0, 1 1 1"},
	{"the last of two stores stays", sched.Config{}, 2, func(w *sched.World, read []uint64) {
		x := word(w, "x")
		w.Start("one", func() { x.Store(1) })
		w.Start("two", func() { x.Store(2) })
		w.Start("reader", func() { read[0] = x.Load() })
		w.Start("bystander", w.Yield) // leaves a choice after both stores
		w.AtEnd(func() { read[1] = x.Load() })
	}, "0 1, 0 2, 1 1, 1 2, 2 1, 2 2"},
	{"a load and a store are two steps", sched.Config{}, 1, lostUpdate(nothing, nothing), "1, 2"},
	{"a mutex excludes the other thread", sched.Config{}, 1, func(w *sched.World, read []uint64) {
		mu := new(seam.Mutex)
		w.Label(unsafe.Pointer(&mu.Held), "mu")
		lostUpdate(mu.Lock, mu.Unlock)(w, read)
	}, "2"},
	{"one thread at a time is pinned to a processor", sched.Config{CPUs: 1}, 1, lostUpdate(func() { seam.Pin() }, seam.Unpin), "2"},
	{"two threads are pinned to two processors", sched.Config{CPUs: 2}, 1, lostUpdate(func() { seam.Pin() }, seam.Unpin), "1, 2"},
	{"sums are equal while no reader holds the object", sched.Config{Stripes: 1}, 1, sums(twice), "1, 2"},
	{"sums are equal if no reader acquired the object", sched.Config{Stripes: 1}, 1, sums(perhaps), "0, 1, 2"},
	{"one of two racing compare-and-swaps wins", sched.Config{}, 2, func(w *sched.World, read []uint64) {
		x := word(w, "x")
		w.Start("left", func() { read[0] = bit(x.CompareAndSwap(0, 1)) })
		w.Start("right", func() { read[1] = bit(x.CompareAndSwap(0, 2)) })
	}, "0 1, 1 0"},
	{"no addition is lost", sched.Config{}, 2, accounts, "0 0, 1 0, 2 0"},
	{"a wait ends after the signal", sched.Config{}, 1, waits(0), "1"},
	{"a wait ends after the second signal", sched.Config{}, 1, waits(1), "1"},
	{"a wait ends after the first of two signals", sched.Config{}, 1, waits(0, 1), "1, 2"},
	{"a turn excludes the other thread", sched.Config{}, 1, func(w *sched.World, read []uint64) {
		turn := new(seam.Turn)
		w.Label(unsafe.Pointer(turn), "turn")
		lostUpdate(func() { _, _ = turn.Take(context.Background(), nil) }, turn.Pass)(w, read)
	}, "2"},
	{"a turn that is not passed is not taken", sched.Config{}, 1, taken(false), "0"},
	{"a turn is taken, or the signal ends the wait", sched.Config{}, 1, taken(true), "0, 1"},
	{"no number of a sequence is given twice", sched.Config{}, 3, func(w *sched.World, read []uint64) {
		s := new(seam.Sequence)
		w.Label(unsafe.Pointer(s), "sequence")
		w.Start("left", func() { read[0] = s.Next() })
		w.Start("right", func() { read[1] = s.Next() })
		w.Start("reader", func() { read[2] = s.Last() })
	}, "1 2 0, 1 2 1, 1 2 2, 2 1 0, 2 1 1, 2 1 2"},
	{"a pointer that is set once may still be missing", sched.Config{}, 2, setOnce, "0 0, 0 1, 1 0, 1 1"},
}

func bit(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

// TestSmallProgramsHaveTheOutcomesOfX86TSO compares the outcomes with those that
// x86-TSO allows, in one order of commuting transitions and in every order.
func TestSmallProgramsHaveTheOutcomesOfX86TSO(t *testing.T) {
	for _, l := range litmus {
		t.Run(l.name, func(t *testing.T) {
			got, few := outcomes(t, l.config, l.reads, l.program)
			if want := strings.Split(l.want, ", "); !slices.Equal(got, want) {
				t.Errorf("outcomes %q, want %q", got, want)
			}
			l.config.EveryOrder = true
			again, all := outcomes(t, l.config, l.reads, l.program)
			if !slices.Equal(again, got) || all.States != few.States {
				t.Errorf("in every order outcomes %q of %d states, want %q of %d", again, all.States, got, few.States)
			}
			if few.Runs > all.Runs {
				t.Errorf("%d runs, and %d in every order", few.Runs, all.Runs)
			}
		})
	}
}

// TestAPlainIncrementIsLostIfAnotherProcessorCounts: it is a load and a store.
func TestAPlainIncrementIsLostIfAnotherProcessorCounts(t *testing.T) {
	plain, atomic := (*seam.Count).IncPlain, (*seam.Count).Inc
	for _, c := range []struct {
		name        string
		cpus        int
		left, right func(*seam.Count)
		lost        bool
	}{
		{"two plain increments", 2, plain, plain, true},
		{"a plain and an atomic one", 2, plain, atomic, true},
		{"an atomic and a plain one, so that the order that is taken first loses none", 2, atomic, plain, true},
		{"two atomic ones", 2, atomic, atomic, false},
		{"two plain ones of one processor", 1, plain, plain, false},
		{"a plain and an atomic one of one processor", 1, plain, atomic, false},
	} {
		r := sched.Explore(sched.Config{CPUs: c.cpus}, func(w *sched.World) {
			x := counts(w, "x")[0]
			pinned(w, "left", func() { c.left(x) })
			pinned(w, "right", func() { c.right(x) })
		}, 0)
		if lost := r.Failure != nil && strings.Contains(r.Failure.Error(), "one of them is lost"); lost != c.lost || !lost && !r.Complete {
			t.Errorf("%s: complete: %v, failure: %v, want a lost one: %v", c.name, r.Complete, r.Failure, c.lost)
		}
	}
}
