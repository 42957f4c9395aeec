package refcount_test

import (
	"math/rand/v2"
	"runtime"

	"github.com/poolswap/poolswap/internal/seam"
)

// visit is a reference to a canary, and what the canary said when it was
// acquired.
type visit struct {
	*canary
	word uint64
}

// checkAcquired checks a canary that was acquired, by one who knew which serials had
// been replaced before. A nil canary is that of an empty container.
func (s *stress) checkAcquired(e *canary, place int, replaced serials) visit {
	if e == nil {
		return visit{}
	}
	v := visit{e, e.words[0]}
	at := labelOf(v.word)
	switch {
	case v.word == poison:
		s.fail("acquired a canary that is in the pool")
	case !e.says(v.word):
		s.fail("acquired a canary that is being written: %x", e.words)
	case at.place != place || at.writer >= writers:
		s.fail("acquired %+v from container %d", at, place)
	case at.serial < replaced[at.writer]:
		s.fail("acquired %+v after the Update of serial %d had returned", at, replaced[at.writer])
	}
	return v
}

// checkUnchanged checks that a canary still says what it said when it was acquired.
func (s *stress) checkUnchanged(v visit, when string) {
	if v.canary != nil && !v.says(v.word) {
		s.fail("%+v was recycled under its reader, who saw it %s: %x", labelOf(v.word), when, v.words)
	}
}

// release is a last look and the Release.
func (s *stress) release(v visit, place int) {
	s.checkUnchanged(v, "before its Release")
	s.containers[place].Release(v.canary)
}

func (s *stress) enter(place int) visit {
	replaced := s.replaced(place)
	return s.checkAcquired(s.containers[place].Acquire(), place, replaced)
}

// shortReader acquires and releases as fast as it can, and looks at one word.
func (s *stress) shortReader(place int, random *rand.Rand) {
	c := s.containers[place]
	for !s.over() {
		for range random.IntN(1000) {
			e := c.Acquire()
			if e != nil && labelOf(e.words[0]).place != place {
				s.fail("acquired a canary that is not in the container: %x", e.words)
			}
			c.Release(e)
		}
		runtime.Gosched()
	}
}

// longReader holds canaries of all containers for long, while others come and go.
func (s *stress) longReader(place int, random *rand.Rand) {
	for !s.over() {
		held := make(map[int]visit, places)
		for i := range 1 + random.IntN(places) {
			at := (place + i) % places
			held[at] = s.enter(at)
		}
		for range random.IntN(20) {
			runtime.Gosched()
			for at, v := range held {
				s.release(s.enter(at), at)
				s.checkUnchanged(v, "while it was held")
			}
		}
		for at, v := range held {
			if v.canary != nil && s.pool.Refs(v.canary) < 1 {
				s.fail("%+v is held and has no reference", labelOf(v.word))
			}
			s.release(v, at)
		}
	}
}

// handoff acquires, and another goroutine releases.
func (s *stress) handoff(place int, random *rand.Rand) {
	given := make(chan visit, 4)
	defer close(given)
	s.start(func() {
		for v := range given {
			s.checkUnchanged(v, "when it was handed over")
			s.release(v, place)
		}
	})
	for !s.over() {
		for range random.IntN(20) {
			v := s.enter(place)
			seam.Fence() // sending is one, but not one that a Machine behind the seam can see
			select {
			case given <- v:
			case <-s.ended: // perhaps nobody takes it any more
				s.release(v, place)
			}
		}
		runtime.Gosched()
	}
}

// loopReader reads with a Reader.
func (s *stress) loopReader(place int, random *rand.Rand) {
	r := s.containers[place].NewReader()
	defer r.Close()
	for !s.over() {
		var last visit
		for range random.IntN(100) {
			s.checkUnchanged(last, "before the next Load")
			replaced := s.replaced(place)
			last = s.checkAcquired(r.Load(), place, replaced)
			if random.IntN(8) == 0 {
				runtime.Gosched()
			}
		}
		s.checkUnchanged(last, "before Park")
		r.Park()
	}
}

// callbackReader reads with WithAcquire.
func (s *stress) callbackReader(place int, random *rand.Rand) {
	for !s.over() {
		for range random.IntN(50) {
			replaced := s.replaced(place)
			s.containers[place].WithAcquire(func(e *canary) {
				v := s.checkAcquired(e, place, replaced)
				if random.IntN(8) == 0 {
					runtime.Gosched()
				}
				s.checkUnchanged(v, "in WithAcquire")
			})
		}
		runtime.Gosched()
	}
}

// writer publishes in one container, the last writer in all.
func (s *stress) writer(writer int, random *rand.Rand) {
	for serial := uint64(1); !s.over(); serial++ {
		place := writer
		if writer == places {
			place = random.IntN(places)
			if serial%64 == 0 {
				s.disturb(serial / 64)
			}
		}
		at := label{writer, place, serial}
		var next *canary
		switch dice := random.IntN(256); {
		case dice == 0: // the container is emptied
		case dice < 8:
			next = s.donate(at)
		case dice < 16:
			s.pool.Release(s.compose(at, random))
			continue
		default:
			next = s.compose(at, random)
		}
		s.containers[place].Update(next)
		s.updated[place][writer].Store(serial)
		if random.IntN(8) == 0 {
			runtime.Gosched()
		}
	}
}

// donate returns a canary that never was in a pool.
func (s *stress) donate(at label) *canary {
	s.donated.Add(1)
	e := new(canary)
	e.write(at.word())
	return e
}

// compose writes on a canary of the pool, which belongs to nobody else
// meanwhile.
func (s *stress) compose(at label, random *rand.Rand) *canary {
	e := s.write(at)
	if random.IntN(8) == 0 {
		runtime.Gosched()
	}
	if !e.says(at.word()) {
		s.fail("another wrote on the canary of writer %d: %x", at.writer, e.words)
	}
	return e
}

// write writes on a canary of the pool.
func (s *stress) write(at label) *canary {
	e := s.pool.Get()
	if !e.says(poison) {
		s.fail("Get returned a canary that is in use: %x", e.words)
	}
	e.write(at.word())
	return e
}

// disturb changes, in its nth call, what the runtime does around the others.
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
