//go:build poolswapsched

package refcount_test

import (
	"testing"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/internal/refcount"
	"github.com/poolswap/poolswap/internal/sched"
)

// stepThroughAssembly has the reads of this test take the steps of the assembly.
func stepThroughAssembly(t *testing.T) *refcount.Interpreter {
	t.Helper()
	in, err := refcount.NewInterpreter()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(refcount.StepThrough(in))
	return in
}

type refFirst struct {
	poolswap.Ref
	_ int
}

type refLast struct {
	_ int
	poolswap.Ref
}

// TestAReadOfWhatIsCurrentStaysInTheAssembly: the methods handle every case, so a
// way to them too many only makes reads slow.
func TestAReadOfWhatIsCurrentStaysInTheAssembly(t *testing.T) {
	t.Run("the Ref first", func(t *testing.T) { staysInTheAssembly(t, new(refFirst)) })
	t.Run("the Ref last", func(t *testing.T) { staysInTheAssembly(t, new(refLast)) })
}

func staysInTheAssembly[T any, P poolswap.Object[T]](t *testing.T, current P) {
	for _, portable := range []bool{false, true} {
		in := stepThroughAssembly(t)
		pool := poolswap.NewPoolWithOptions[T, P](func() *T { return new(T) }, nil, poolswap.Options[T]{Portable: portable})
		c := poolswap.NewContainer(pool, (*T)(current))
		held := c.Acquire()
		if held != (*T)(current) || pool.Refs(held) != 1 {
			t.Errorf("portable %t: Acquire returned %p with %d references, want %p with 1", portable, held, pool.Refs(held), current)
		}
		c.Release(held)
		if in.Exits > 0 {
			t.Errorf("portable %t: an Acquire and a Release left the assembly %d times", portable, in.Exits)
		}
		c.Update(nil)
		if c.Acquire() != nil || in.Exits != 1 {
			t.Errorf("portable %t: an Acquire from an empty container left the assembly %d times, want 1", portable, in.Exits)
		}
		current = new(T)
	}
}

// ofAssemblyAlone is for code that the assembly alone has: the way from Release of a
// container to the methods, and a way of its own for the overflow stripe.
var ofAssemblyAlone = []scenario{
	{name: "an owner gives back through the container", containers: 1, spares: 1, threads: func(l *harness, c []*watched) {
		l.reader(c[0], 1)
		l.Start("writer", func() {
			c[0].Release(l.get())
			l.update(c[0], l.get())
		})
	}},
	{name: "a reader undoes in the overflow stripe and a holder releases there", config: sched.Config{CPUs: 3, Stripes: 1}, containers: 1, spares: 1, threads: func(l *harness, c []*watched) {
		held := l.acquire(c[0])
		l.reader(c[0], 1)
		l.Start("holder", func() {
			l.update(c[0], nil)
			l.release(c[0], held)
		})
	}},
}

// TestEveryInterleavingOfTheAssembly takes the instructions of read_amd64.s in
// place of the methods. It goes through all states of the scenarios above, which
// are small, and through POOLSWAP_STATES of those of readers and Updates.
func TestEveryInterleavingOfTheAssembly(t *testing.T) {
	limit := size(t, "POOLSWAP_STATES", 20_000, 5_000)
	stepThroughAssembly(t)
	var all sched.Result
	explore := func(s scenario, limit int) {
		t.Run(s.name, func(t *testing.T) {
			r := s.explore(limit)
			if r.Failure != nil || limit == 0 && !r.Complete {
				t.Fatalf("complete: %v, failure: %v", r.Complete, r.Failure)
			}
			all.States += r.States
			all.Runs += r.Runs
		})
	}
	for _, s := range ofAssemblyAlone {
		explore(s, 0)
	}
	for _, s := range updateScenarios {
		explore(s, limit)
	}
	t.Logf("%d states, %d runs", all.States, all.Runs)
}

// TestRandomInterleavingsOfTheAssembly samples the larger scenarios, each
// POOLSWAP_SCHEDULES times.
func TestRandomInterleavingsOfTheAssembly(t *testing.T) {
	each := size(t, "POOLSWAP_SCHEDULES", 2_000, 1_000)
	stepThroughAssembly(t)
	for _, s := range larger {
		t.Run(s.name, func(t *testing.T) {
			const kinds = 5 // as in TestRandomInterleavingsOfLargerScenarios
			for changes := range kinds {
				if r := s.sample(each/kinds, changes); r.Failure != nil {
					t.Fatal(r.Failure)
				}
			}
		})
	}
}
