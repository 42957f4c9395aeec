package refcount_test

import (
	"math/rand/v2"
	"runtime"

	"github.com/poolswap/poolswap/internal/seam"
)

// visit is a reference to an exhibit, and what the exhibit said when it was
// acquired.
type visit struct {
	*exhibit
	word uint64
}

// admit checks an exhibit that was acquired, by one who knew which serials had
// been replaced before. A nil exhibit is that of an empty container.
func (s *stress) admit(e *exhibit, place int, replaced serials) visit {
	if e == nil {
		return visit{}
	}
	v := visit{e, e.words[0]}
	at := labelOf(v.word)
	switch {
	case v.word == poison:
		s.fail("acquired an exhibit that is in the pool")
	case !e.says(v.word):
		s.fail("acquired an exhibit that is being written: %x", e.words)
	case at.place != place || at.author >= authors:
		s.fail("acquired %+v from container %d", at, place)
	case at.serial < replaced[at.author]:
		s.fail("acquired %+v after the Update of serial %d had returned", at, replaced[at.author])
	}
	return v
}

// enjoy checks that an exhibit still says what it said when it was acquired.
func (s *stress) enjoy(v visit, when string) {
	if v.exhibit != nil && !v.says(v.word) {
		s.fail("%+v was recycled under its reader, who saw it %s: %x", labelOf(v.word), when, v.words)
	}
}

// leave is a last look and the Release.
func (s *stress) leave(v visit, place int) {
	s.enjoy(v, "before its Release")
	s.containers[place].Release(v.exhibit)
}

func (s *stress) enter(place int) visit {
	replaced := s.replaced(place)
	return s.admit(s.containers[place].Acquire(), place, replaced)
}

// passer acquires and releases as fast as it can, and looks at one word.
func (s *stress) passer(place int, random *rand.Rand) {
	c := s.containers[place]
	for !s.over() {
		for range random.IntN(1000) {
			e := c.Acquire()
			if e != nil && labelOf(e.words[0]).place != place {
				s.fail("acquired an exhibit that is not in the container: %x", e.words)
			}
			c.Release(e)
		}
		runtime.Gosched()
	}
}

// dweller holds exhibits of all containers for long, while others come and go.
func (s *stress) dweller(place int, random *rand.Rand) {
	for !s.over() {
		held := make(map[int]visit, places)
		for i := range 1 + random.IntN(places) {
			at := (place + i) % places
			held[at] = s.enter(at)
		}
		for range random.IntN(20) {
			runtime.Gosched()
			for at, v := range held {
				s.leave(s.enter(at), at)
				s.enjoy(v, "while it was held")
			}
		}
		for at, v := range held {
			if v.exhibit != nil && s.pool.Refs(v.exhibit) < 1 {
				s.fail("%+v is held and has no reference", labelOf(v.word))
			}
			s.leave(v, at)
		}
	}
}

// giver acquires, and another goroutine releases.
func (s *stress) giver(place int, random *rand.Rand) {
	given := make(chan visit, 4)
	defer close(given)
	s.start(func() {
		for v := range given {
			s.enjoy(v, "when it was handed over")
			s.leave(v, place)
		}
	})
	for !s.over() {
		for range random.IntN(20) {
			v := s.enter(place)
			seam.Fence() // sending is one, but not one that a Machine behind the seam can see
			select {
			case given <- v:
			case <-s.ended: // perhaps nobody takes it any more
				s.leave(v, place)
			}
		}
		runtime.Gosched()
	}
}

// subscriber reads with a Reader.
func (s *stress) subscriber(place int, random *rand.Rand) {
	r := s.containers[place].NewReader()
	defer r.Close()
	for !s.over() {
		var last visit
		for range random.IntN(100) {
			s.enjoy(last, "before the next Load")
			replaced := s.replaced(place)
			last = s.admit(r.Load(), place, replaced)
			if random.IntN(8) == 0 {
				runtime.Gosched()
			}
		}
		s.enjoy(last, "before Park")
		r.Park()
	}
}

// caller reads with WithAcquire.
func (s *stress) caller(place int, random *rand.Rand) {
	for !s.over() {
		for range random.IntN(50) {
			replaced := s.replaced(place)
			s.containers[place].WithAcquire(func(e *exhibit) {
				v := s.admit(e, place, replaced)
				if random.IntN(8) == 0 {
					runtime.Gosched()
				}
				s.enjoy(v, "in WithAcquire")
			})
		}
		runtime.Gosched()
	}
}

// author publishes in one container, the last author in all.
func (s *stress) author(author int, random *rand.Rand) {
	for serial := uint64(1); !s.over(); serial++ {
		place := author
		if author == places {
			place = random.IntN(places)
			if serial%64 == 0 {
				s.disturb(serial / 64)
			}
		}
		at := label{author, place, serial}
		var next *exhibit
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
		s.updated[place][author].Store(serial)
		if random.IntN(8) == 0 {
			runtime.Gosched()
		}
	}
}

// donate returns an exhibit that never was in a pool.
func (s *stress) donate(at label) *exhibit {
	s.donated.Add(1)
	e := new(exhibit)
	e.write(at.word())
	return e
}

// compose writes on an exhibit of the pool, which belongs to nobody else
// meanwhile.
func (s *stress) compose(at label, random *rand.Rand) *exhibit {
	e := s.write(at)
	if random.IntN(8) == 0 {
		runtime.Gosched()
	}
	if !e.says(at.word()) {
		s.fail("another wrote on the exhibit of author %d: %x", at.author, e.words)
	}
	return e
}

// write writes on an exhibit of the pool.
func (s *stress) write(at label) *exhibit {
	e := s.pool.Get()
	if !e.says(poison) {
		s.fail("Get returned an exhibit that is in use: %x", e.words)
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
