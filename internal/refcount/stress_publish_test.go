package refcount_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/internal/test/pooltest"
)

// A canary of these tests holds a count: how many publications there were since
// the last Update, and the version of that Update. Its pool has one container, so
// each publication has the version after the one before it, and the version of a
// canary is base plus count. If a publication were lost, or built on another than
// the one before it, the sum would differ from then on.
const countBits = 32

func countWord(base, count uint64) uint64 { return base<<countBits | count }

// publishers is a run: publishers that count, updaters that begin the count
// anew, and readers of every kind, until the container is closed under them.
type publishers struct {
	t    *testing.T
	pool *poolswap.Pool[canary, *canary]
	c    *poolswap.Container[canary, *canary]

	target            uint64 // the container is closed after as many publications, or more
	published, closed atomic.Uint64
	made, discarded   atomic.Uint64

	updated, conflicts, retained, waits, versions atomic.Uint64

	*crew // ended when target is reached or something failed
}

func newPublishers(t *testing.T, portable bool, target uint64) *publishers {
	p := &publishers{t: t, target: target, crew: newCrew(t)}
	p.pool = poolswap.NewPoolWithOptions(
		func() *canary { p.made.Add(1); return newCanary(poison) },
		func(obj *canary) bool {
			// A publisher that finds the container closed gives back an object that it has not
			// filled.
			if word := obj.words[0]; word == poison && !p.over() || !obj.holds(word) {
				p.fail("a canary was reset twice or while it was written: %x", obj.words)
			}
			obj.fill(poison)
			return true
		},
		poolswap.Options[canary]{
			Spares: 2, MaxLive: 6, Portable: portable, // so publishers wait for readers now and then
			Discard: func(*canary) { p.discarded.Add(1) },
		})
	p.c = poolswap.NewContainer(p.pool, newCanary(countWord(0, 0)))
	return p
}

// look returns the word of a canary that the caller holds, and its version. They
// must fit.
func (p *publishers) look(obj *canary) (word, version uint64) {
	word, version = obj.words[0], p.c.VersionOf(obj)
	base, count := word>>countBits, word&(1<<countBits-1)
	switch {
	case !obj.holds(word):
		p.fail("version %d is being written: %x", version, obj.words)
	case version == 0 || count > 0 && version != base+count:
		p.fail("version %d is the %dth publication after version %d: one was lost, or took effect twice", version, count, base)
	}
	return word, version
}

// publish publishes the successor of the current canary until the container is
// closed, and then a few times more.
func (p *publishers) publish(ctx context.Context) {
	for refused := 0; refused < 3; {
		var before, word uint64
		version, err := p.c.Publish(ctx, func(next, current *canary) error {
			if !next.holds(poison) {
				p.fail("fill was given a canary that is in use: %x", next.words)
			}
			word, before = p.look(current)
			if word&(1<<countBits-1) == 0 { // the first since an Update
				word = countWord(before, 0)
			}
			word++
			next.fill(word)
			if rand.IntN(32) == 0 {
				runtime.Gosched() // an Update may come between
			}
			return nil
		})
		switch {
		case err == nil && version != before+1:
			p.fail("version %d was published on top of version %d", version, before)
		case err == nil && refused > 0:
			p.fail("version %d was published after ErrClosed", version)
		case err == nil:
			if p.published.Add(1) >= p.target && p.sawAll() {
				p.end()
			}
		case version != 0:
			p.fail("Publish returned version %d and %v", version, err)
		case errors.Is(err, poolswap.ErrConflict):
			p.conflicts.Add(1)
		case errors.Is(err, poolswap.ErrClosed):
			p.closed.Add(1)
			refused++
		default:
			p.fail("Publish: %v", err)
			return
		}
	}
}

// sawAll reports whether everything that the run is about has happened.
func (p *publishers) sawAll() bool {
	return min(p.updated.Load(), p.conflicts.Load(), p.retained.Load(), p.waits.Load(), p.versions.Load()) > 0
}

// update begins the count anew now and then, with a canary from the pool if there
// is one, until the container is closed.
func (p *publishers) update() {
	for serial := uint64(1); ; serial++ {
		for range 50 {
			runtime.Gosched()
		}
		obj, err := p.pool.TryGet()
		if errors.Is(err, poolswap.ErrLimit) {
			continue
		}
		obj.fill(countWord(serial, 0))
		text := ""
		func() {
			defer func() {
				if value := recover(); value != nil {
					text = fmt.Sprint(value)
				}
			}()
			p.c.Update(obj)
		}()
		if text != "" {
			if !strings.Contains(text, "in a closed Container") {
				p.fail("Update: %s", text)
			}
			p.pool.Release(obj)
			return
		}
		p.updated.Add(1)
	}
}

// grows checks that a reader never sees an older version after a newer one.
func (p *publishers) grows(last *uint64, obj *canary) {
	_, version := p.look(obj)
	if version < *last {
		p.fail("a reader saw version %d after version %d", version, *last)
	}
	*last = version
}

// read acquires until the container is closed.
func (p *publishers) read() {
	for last := uint64(0); ; {
		last = max(last, p.c.Version()) // an object acquired after it is not older
		obj := p.c.Acquire()
		if obj == nil {
			return
		}
		p.grows(&last, obj)
		runtime.Gosched()
		p.grows(&last, obj)
		p.c.Release(obj)
	}
}

// load reads with a Reader until the container is closed.
func (p *publishers) load() {
	r := p.c.NewReader()
	defer r.Close()
	for last := uint64(0); ; {
		obj := r.Load()
		if obj == nil {
			return
		}
		p.grows(&last, obj)
		runtime.Gosched()
	}
}

// retain hands the objects that it acquires to two others, each with a reference of its own,
// until the container is closed.
func (p *publishers) retain() {
	passed := make(chan *canary)
	defer close(passed)
	for range 2 {
		p.start(func() {
			for obj := range passed {
				p.look(obj)
				runtime.Gosched()
				p.look(obj)
				p.c.Release(obj)
			}
		})
	}
	for {
		obj := p.c.Acquire()
		if obj == nil {
			return
		}
		for range 2 {
			passed <- p.c.Retain(obj)
			p.retained.Add(1)
		}
		p.look(obj)
		p.c.Release(obj)
	}
}

// wait waits for one version after the other until the container is closed.
func (p *publishers) wait(ctx context.Context) {
	for last := uint64(0); ; {
		version, err := p.c.Wait(ctx, last)
		switch {
		case errors.Is(err, poolswap.ErrClosed):
			return
		case err != nil || version <= last:
			p.fail("Wait(%d) returned %d and %v", last, version, err)
			return
		}
		last = version
		p.waits.Add(1)
	}
}

// range over Versions until the container is closed.
func (p *publishers) eachVersion(ctx context.Context) {
	last := uint64(0)
	for version, obj := range p.c.Versions(ctx) {
		if version <= last {
			p.fail("Versions yields version %d after version %d", version, last)
		}
		p.grows(&last, obj)
		if version != last {
			p.fail("Versions yields version %d with version %d", version, last)
		}
		p.versions.Add(1)
	}
}

// run starts all, closes the container when enough was published, and then the
// pool.
func (p *publishers) run() {
	ctx := context.Background()
	begun := time.Now()
	for range 8 {
		p.start(func() { p.publish(ctx) })
	}
	p.start(p.update)
	p.start(p.read)
	p.start(p.load)
	p.start(p.retain)
	p.start(func() { p.wait(ctx) })
	p.start(func() { p.eachVersion(ctx) })
	<-p.ended
	if err := p.c.Close(ctx); err != nil {
		p.fail("Close: %v", err)
	}
	if p.c.Version() != 0 {
		p.fail("a closed container has version %d", p.c.Version())
	}
	p.group.Wait()
	if err := p.pool.Close(ctx); err != nil {
		p.fail("Close of the pool: %v", err)
	}
	p.t.Logf("%d publications, %d updates, %d conflicts, %d retained, %d waits, %d versions yielded, %d objects made, in %v",
		p.published.Load(), p.updated.Load(), p.conflicts.Load(), p.retained.Load(), p.waits.Load(), p.versions.Load(),
		p.made.Load(), time.Since(begun).Round(100*time.Millisecond))
}

// settle checks, after the run, that everything was counted and nothing is left.
func (p *publishers) settle() {
	s := p.pool.Stats()
	p.t.Logf("%+v", s)
	if want := p.published.Load() + p.updated.Load() + 1; s.Updates != want || s.Drained != want {
		p.t.Errorf("%d objects were published and %d drained, want %d", s.Updates, s.Drained, want)
	}
	if want := p.conflicts.Load() + p.closed.Load(); s.FailedPublishes != want {
		p.t.Errorf("%d calls of Publish failed, want %d", s.FailedPublishes, want)
	}
	if p.conflicts.Load() > p.updated.Load() {
		p.t.Errorf("%d conflicts with %d updates: publishers do not take turns", p.conflicts.Load(), p.updated.Load())
	}
	if s.Created != p.made.Load() || s.Adopted != 1 || s.Discarded != s.Created+1 || s.Discarded != p.discarded.Load() || s.Lost != 0 || s.Collected != 0 {
		p.t.Errorf("%d canaries were made and %d discarded, of all one more than made", p.made.Load(), p.discarded.Load())
	}
	if s.Live != 0 || s.Current != 0 || s.Retired != 0 || s.Held != 0 || s.PendingReset != 0 || s.Resetting != 0 || s.Spares != 0 || len(s.Versions) != 0 || s.OldestRetired != 0 {
		p.t.Error("something is left after Close")
	}
}

// TestStressOfPublishers counts with eight publishers and loses nothing.
func TestStressOfPublishers(t *testing.T) {
	pooltest.ForEachMode(t, func(t *testing.T, options poolswap.Options[table]) {
		p := newPublishers(t, options.Portable, bulkSize(t, bulk{}, 0, 100_000).updates)
		p.run()
		if !t.Failed() {
			p.settle()
		}
	})
}
