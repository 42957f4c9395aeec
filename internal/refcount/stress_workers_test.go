package refcount_test

import (
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/internal/seam"
)

// reference is an acquired canary, or nil of an empty container, and its word
// at that time.
type reference struct {
	*canary
	word uint64
}

// checkAcquired checks a canary that was acquired after the serials had been
// published. It is nil if the container was empty.
func (s *stress) checkAcquired(obj *canary, container int, published serials) reference {
	if obj == nil {
		return reference{}
	}
	ref := reference{obj, obj.words[0]}
	at := labelOf(ref.word)
	switch {
	case ref.word == poison:
		s.fail("acquired a canary that is in the pool")
	case !obj.holds(ref.word):
		s.fail("acquired a canary that is being written: %x", obj.words)
	case at.container != container || at.writer >= writers:
		s.fail("acquired %+v from container %d", at, container)
	case at.serial < published[at.writer]:
		s.fail("acquired %+v after the Update of serial %d had returned", at, published[at.writer])
	}
	return ref
}

// checkUnchanged checks that a canary has not changed since it was acquired.
func (s *stress) checkUnchanged(ref reference, when string) {
	if ref.canary != nil && !ref.holds(ref.word) {
		s.fail("%+v was recycled under its reader, detected %s: %x", labelOf(ref.word), when, ref.words)
	}
}

// release checks a canary for the last time and releases it.
func (s *stress) release(ref reference, container int) {
	s.checkUnchanged(ref, "before its Release")
	s.containers[container].Release(ref.canary)
}

// acquire acquires a canary and checks it.
func (s *stress) acquire(container int) reference {
	published := s.published(container)
	return s.checkAcquired(s.containers[container].Acquire(), container, published)
}

// shortReader acquires and releases as fast as it can, and reads one word.
func (s *stress) shortReader(container int, random *rand.Rand) {
	c := s.containers[container]
	for !s.over() {
		for range random.IntN(1000) {
			obj := c.Acquire()
			if obj != nil && labelOf(obj.words[0]).container != container {
				s.fail("acquired a canary of another container or of the pool: %x", obj.words)
			}
			c.Release(obj)
		}
		runtime.Gosched()
	}
}

// longReader holds canaries of one or more containers for long, and acquires
// and releases others meanwhile.
func (s *stress) longReader(container int, random *rand.Rand) {
	for !s.over() {
		held := make(map[int]reference, containerCount)
		for i := range 1 + random.IntN(containerCount) {
			from := (container + i) % containerCount
			held[from] = s.acquire(from)
		}
		for range random.IntN(20) {
			runtime.Gosched()
			for from, ref := range held {
				s.release(s.acquire(from), from)
				s.checkUnchanged(ref, "while it was held")
			}
		}
		for from, ref := range held {
			if ref.canary != nil && s.pool.Refs(ref.canary) < 1 {
				s.fail("%+v is held but has no reference", labelOf(ref.word))
			}
			s.release(ref, from)
		}
	}
}

// handoff acquires, and another goroutine releases.
func (s *stress) handoff(container int, random *rand.Rand) {
	passed := make(chan reference, 4)
	defer close(passed)
	s.start(func() {
		for ref := range passed {
			s.checkUnchanged(ref, "after the handoff")
			s.release(ref, container)
		}
	})
	for !s.over() {
		for range random.IntN(20) {
			ref := s.acquire(container)
			seam.Fence() // the send is a fence too, but a Machine does not see it
			select {
			case passed <- ref:
			case <-s.ended: // the receiver may have failed
				s.release(ref, container)
			}
		}
		runtime.Gosched()
	}
}

// loopReader reads with a Reader.
func (s *stress) loopReader(container int, random *rand.Rand) {
	r := s.containers[container].NewReader()
	defer r.Close()
	for !s.over() {
		var last reference
		for range random.IntN(100) {
			s.checkUnchanged(last, "before the next Load")
			published := s.published(container)
			last = s.checkAcquired(r.Load(), container, published)
			if random.IntN(8) == 0 {
				runtime.Gosched()
			}
		}
		s.checkUnchanged(last, "before Park")
		r.Park()
	}
}

// callbackReader reads with WithAcquire.
func (s *stress) callbackReader(container int, random *rand.Rand) {
	for !s.over() {
		for range random.IntN(50) {
			published := s.published(container)
			s.containers[container].WithAcquire(func(obj *canary) {
				ref := s.checkAcquired(obj, container, published)
				if random.IntN(8) == 0 {
					runtime.Gosched()
				}
				s.checkUnchanged(ref, "in WithAcquire")
			})
		}
		runtime.Gosched()
	}
}

// writer publishes in its own container. The last writer publishes in all.
func (s *stress) writer(writer int, random *rand.Rand) {
	for serial := uint64(1); !s.over(); serial++ {
		container := writer
		if writer == containerCount {
			container = random.IntN(containerCount)
			if serial%64 == 0 {
				s.disturb(serial / 64)
			}
		}
		at := label{writer, container, serial}
		var next *canary
		switch dice := random.IntN(256); {
		case dice == 0: // empty the container
		case dice < 8:
			s.adopted.Add(1)
			next = newCanary(at.word())
		case dice < 16:
			s.pool.Release(s.nextSlow(at, random))
			continue
		default:
			next = s.nextSlow(at, random)
		}
		s.containers[container].Update(next)
		s.updated[container][writer].Store(serial)
		if random.IntN(8) == 0 {
			runtime.Gosched()
		}
	}
}

// nextSlow is next with an occasional yield. It checks that no other goroutine
// writes to the private canary meanwhile.
func (s *stress) nextSlow(at label, random *rand.Rand) *canary {
	obj := s.next(at)
	if random.IntN(8) == 0 {
		runtime.Gosched()
	}
	if !obj.holds(at.word()) {
		s.fail("another goroutine wrote to the private canary of writer %d: %x", at.writer, obj.words)
	}
	return obj
}

// next returns a canary from the pool, filled for publication.
func (s *stress) next(at label) *canary {
	obj := s.pool.Get()
	if !obj.holds(poison) {
		s.fail("Get returned a canary that is in use: %x", obj.words)
	}
	obj.fill(at.word())
	return obj
}

// disturb changes GOMAXPROCS on every call, and sometimes collects garbage or
// trims the pool.
func (s *stress) disturb(n uint64) {
	procs := []int{2, runtime.NumCPU() + 1, 1, 3*runtime.NumCPU() + 5, runtime.NumCPU()}
	runtime.GOMAXPROCS(procs[n%uint64(len(procs))])
	switch n % 32 {
	case 8:
		runtime.GC()
	case 24:
		s.pool.Trim()
	}
}

// canary is the object that the stress tests swap. All its words are equal: the
// label under which it was published, or poison while it is in the pool. A
// reader that uses it too early or too late sees words that change or differ.
type canary struct {
	poolswap.Ref
	words [64]uint64
}

// label identifies a publication: the writer, the container, and the number of
// the writer's publication.
type label struct {
	writer, container int
	serial            uint64
}

const (
	poison    = ^uint64(0)
	labelBits = 8 // of a word, for each of writer and container
)

func (l label) word() uint64 {
	return l.serial<<(2*labelBits) | uint64(l.writer)<<labelBits | uint64(l.container)
}

func labelOf(word uint64) label {
	const mask = 1<<labelBits - 1
	return label{
		writer:    int(word >> labelBits & mask),
		container: int(word & mask),
		serial:    word >> (2 * labelBits),
	}
}

// newCanary returns a canary with this word.
func newCanary(word uint64) *canary {
	obj := new(canary)
	obj.fill(word)
	return obj
}

// fill sets all words.
func (obj *canary) fill(word uint64) {
	for i := range obj.words {
		obj.words[i] = word
	}
}

// holds reports whether all words equal word.
func (obj *canary) holds(word uint64) bool {
	for i := range obj.words {
		if obj.words[i] != word {
			return false
		}
	}
	return true
}

// crew is the goroutines of a stress test.
type crew struct {
	test   *testing.T
	group  sync.WaitGroup
	failed atomic.Bool
	ending sync.Once
	ended  chan struct{}
}

func newCrew(t *testing.T) *crew { return &crew{test: t, ended: make(chan struct{})} }

// fail reports the first failure and ends the run.
func (c *crew) fail(format string, args ...any) {
	if c.failed.CompareAndSwap(false, true) {
		c.test.Errorf(format, args...)
	}
	c.end()
}

func (c *crew) end() { c.ending.Do(func() { close(c.ended) }) }

// over reports whether the run has ended, or is about to.
func (c *crew) over() bool {
	select {
	case <-c.ended:
		return true
	default:
		return false
	}
}

// start runs work on another goroutine. A panic fails the run.
func (c *crew) start(work func()) {
	c.group.Go(func() {
		defer func() {
			if value := recover(); value != nil {
				c.fail("panic: %v\n%s", value, debug.Stack())
			}
		}()
		work()
	})
}
