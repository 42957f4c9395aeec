package refcount_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/internal/test/pooltest"
)

var errFill = errors.New("fill fails")

// fillEnd is how a Publish ends that these tests make.
type fillEnd int

const (
	fillReturns fillEnd = iota
	fillFails
	fillPanics
	fillExits
	fillUpdates  // with next, which is misuse and publishes it
	fillReleases // next, which is misuse
	fillCancels  // the ctx of its own Publish, too late to prevent the publication
	fillNever    // runs: ctx has ended
	fillEnds
)

func (e fillEnd) String() string {
	return [...]string{"returns", "fails", "panics", "exits", "updates", "releases", "cancels", "never runs"}[e]
}

// publishes reports whether next is current after such a Publish.
func (e fillEnd) publishes() bool { return e == fillReturns || e == fillUpdates || e == fillCancels }

// attempt is a call of Publish and how it ended.
type attempt struct {
	end      fillEnd
	word     uint64 // of next
	before   uint64 // version of current
	version  uint64
	err      error
	returned bool
	panicked any
}

// try calls Publish on a goroutine of its own, with a fill that ends as end says.
// What it publishes continues the count, or begins it anew.
func (p *publishers) try(end fillEnd) *attempt {
	a := &attempt{end: end}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	if end == fillNever {
		cancel()
	}
	_, a.panicked = pooltest.OnAnother(func() {
		a.version, a.err = p.c.Publish(ctx, func(next, current *canary) error {
			if !next.holds(poison) {
				p.fail("fill was given a canary that is in use: %x", next.words)
			}
			a.word, a.before = p.look(current)
			if a.word&(1<<countBits-1) == 0 {
				a.word = countWord(a.before, 0)
			}
			a.word++
			if end == fillUpdates {
				a.word = countWord(a.before, 0)
			}
			next.fill(a.word)
			if rand.IntN(8) == 0 {
				runtime.Gosched() // another may come between, if the turn lets it
			}
			switch end {
			case fillFails:
				return errFill
			case fillPanics:
				panic(errFill)
			case fillExits:
				runtime.Goexit()
			case fillUpdates:
				p.c.Update(next)
			case fillReleases:
				p.c.Release(next)
			case fillCancels:
				cancel()
			}
			return nil
		})
		a.returned = true
	})
	if wrong := a.wrong(); wrong != "" {
		p.fail("Publish with a fill that %v: %s: %+v", end, wrong, *a)
	}
	return a
}

// wrong says what about the end of the call is not as it must be.
func (a *attempt) wrong() string {
	misused := strings.HasPrefix(fmt.Sprint(a.panicked), "poolswap: Publish of a *refcount_test.canary that fill published or gave back (fill only fills next)")
	switch a.end {
	case fillReturns, fillCancels:
		if !a.returned || a.err != nil || a.version != a.before+1 {
			return "it published nothing, or another version than the next one"
		}
		return ""
	case fillFails:
		if !a.returned || a.err != errFill {
			return "the error did not come back unchanged"
		}
	case fillNever:
		if !a.returned || !errors.Is(a.err, context.Canceled) || a.word != 0 {
			return "ctx had ended before"
		}
	case fillPanics:
		if a.panicked != errFill {
			return "the panic did not pass on"
		}
	case fillExits:
		if a.returned || a.panicked != nil {
			return "the Goexit did not pass on"
		}
	case fillUpdates, fillReleases:
		if !misused {
			return "the misuse was not refused"
		}
	}
	if a.version != 0 {
		return "it returned a version"
	}
	return ""
}

// alone tries so many random ends one after the other. Each leaves the container
// as it was, unless it publishes, and no more objects than before.
func (p *publishers) alone(n uint64, random *rand.Rand) (failed uint64) {
	// One is current and one is next. The sweeper may have the one that was
	// replaced, after an Update in fill, where it is neither.
	const most = 3
	for range n {
		obj := p.c.Acquire()
		word, version := p.look(obj)
		p.c.Release(obj)

		end := fillEnd(random.IntN(int(fillEnds)))
		a := p.try(end)
		if end.publishes() {
			word, version = a.word, version+1
		}
		if !end.publishes() || end == fillUpdates {
			failed++
		}
		obj = p.c.Acquire()
		if nowWord, now := p.look(obj); now != version || nowWord != word || p.c.Version() != version {
			p.fail("after a fill that %v the container has version %d and word %x, want %d and %x", end, now, nowWord, version, word)
		}
		if refs := p.pool.Refs(obj); refs != 1 {
			p.fail("after a fill that %v there are %d references, want one", end, refs)
		}
		p.c.Release(obj)
		if live := p.pool.Stats().Live; live > most {
			p.fail("after a fill that %v %d objects are live, want at most %d", end, live, most)
		}
		if p.over() {
			return failed
		}
	}
	return failed
}

// together tries so many random ends, several at a time.
func (p *publishers) together(n uint64) {
	const at = 4
	var group sync.WaitGroup
	for range at {
		group.Go(func() {
			for range n / at {
				p.try(fillEnd(rand.IntN(int(fillEnds))))
				if p.over() {
					return
				}
			}
		})
	}
	group.Wait()
}

// closeAll closes the container and the pool. Nothing is left of either.
func (p *publishers) closeAll() {
	for _, closes := range []func(context.Context) error{p.c.Close, p.pool.Close} {
		if err := closes(p.t.Context()); err != nil {
			p.fail("Close: %v", err)
		}
	}
	if s := p.pool.Stats(); s.Live != 0 || s.Held != 0 || s.Drained != s.Updates || s.Discarded != p.made.Load()+1 || s.Discarded != p.discarded.Load() {
		p.t.Errorf("%d canaries were made and one adopted, and after Close something is left: %+v", p.made.Load(), s)
	}
}

// TestStressOfFillsThatFail tries fills that end in every way: what they leave
// behind is what was there, and the turn.
func TestStressOfFillsThatFail(t *testing.T) {
	pooltest.ForEachMode(t, func(t *testing.T, options poolswap.Options[table]) {
		size := bulkSize(t, bulk{}, 0, 20_000).updates
		t.Run("one after the other", func(t *testing.T) {
			begun := time.Now()
			p := newPublishers(t, options.Portable, 0)
			failed := p.alone(size, rand.New(rand.NewPCG(rand.Uint64(), 0)))
			if s := p.pool.Stats(); s.FailedPublishes != failed {
				t.Errorf("%d calls of Publish failed, want %d", s.FailedPublishes, failed)
			}
			p.closeAll()
			t.Logf("%d fills, %d calls of Publish failed, in %v", size, failed, time.Since(begun).Round(100*time.Millisecond))
		})
		t.Run("several at a time", func(t *testing.T) {
			begun := time.Now()
			p := newPublishers(t, options.Portable, 0)
			p.together(size)
			p.closeAll()
			t.Logf("%d fills, in %v", size, time.Since(begun).Round(100*time.Millisecond))
		})
	})
}
