package verify_test

import (
	"context"
	"runtime"
	"sync"

	"github.com/poolswap/poolswap"
)

// register is a container as its writers see it: a value with a version, each 0
// while there is none.
type register interface {
	// publish replaces the current value by the one that fill makes of it.
	publish(fill func(now versioned) (uint64, error)) (version uint64, err error)
	update(value uint64)
	empty()
	read() versioned
	version() uint64
	wait(after uint64) uint64
}

// versioned is a value and its version.
type versioned struct{ value, version uint64 }

// swapped is the register that a Container is.
type swapped struct {
	*poolswap.Container[record, *record]
}

// of returns the value in obj, which is held. That of a broken record is 1<<63,
// which no client publishes.
func (s swapped) of(obj *record) versioned {
	if obj == nil {
		return versioned{}
	}
	value, err := obj.read()
	if err != nil {
		value = 1 << 63
	}
	return versioned{value, s.VersionOf(obj)}
}

func (s swapped) publish(fill func(versioned) (uint64, error)) (uint64, error) {
	return s.Publish(context.Background(), func(next, current *record) error {
		value, err := fill(s.of(current))
		next.fill(value)
		return err
	})
}

func (s swapped) update(value uint64) {
	obj := s.GetNew()
	obj.fill(value)
	s.Update(obj)
}

func (s swapped) empty()          { s.Update(nil) }
func (s swapped) version() uint64 { return s.Version() }

func (s swapped) read() (now versioned) {
	s.WithAcquire(func(obj *record) { now = s.of(obj) })
	return now
}

func (s swapped) wait(after uint64) uint64 {
	version, err := s.Wait(context.Background(), after)
	if err != nil {
		panic(err)
	}
	return version
}

// locked is a register with a mutex, and with the bugs planted in it.
type locked struct {
	planted plant

	mu    sync.Mutex // guards what follows
	now   versioned
	swaps uint64
	last  uint64 // version

	turn sync.Mutex
}

// plant is a bug that a locked register has.
type plant int

const (
	plantNothing         plant = iota
	plantNoConflictCheck       // a publication replaces a value that it did not build on
	plantNoTurn                // nor do publishers take turns
	plantOldVersion            // version tells the one before now and then
	plantEarlyWait             // wait returns a version that is not above after
	plants
)

func (p plant) String() string {
	return [...]string{"nothing", "no conflict check", "no turns, and no conflict check", "an old version", "a wait that ends too early"}[p]
}

// set replaces the current value. The caller holds mu.
func (l *locked) set(value uint64) uint64 {
	l.swaps++
	l.now = versioned{}
	if value != 0 {
		l.last++
		l.now = versioned{value, l.last}
	}
	return l.now.version
}

func (l *locked) publish(fill func(versioned) (uint64, error)) (uint64, error) {
	if l.planted != plantNoTurn {
		l.turn.Lock()
		defer l.turn.Unlock()
	}
	l.mu.Lock()
	now, swaps := l.now, l.swaps
	l.mu.Unlock()
	value, err := fill(now)
	runtime.Gosched()
	if err != nil {
		return 0, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.swaps != swaps && l.planted != plantNoConflictCheck && l.planted != plantNoTurn {
		return 0, poolswap.ErrConflict
	}
	return l.set(value), nil
}

func (l *locked) update(value uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.set(value)
}

func (l *locked) empty() { l.update(0) }

func (l *locked) read() versioned {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.now
}

func (l *locked) version() uint64 {
	now := l.read().version
	if l.planted == plantOldVersion && now%4 == 2 {
		return now - 1
	}
	return now
}

func (l *locked) wait(after uint64) uint64 {
	for {
		if now := l.read().version; now > after || l.planted == plantEarlyWait && now == after && now > 0 {
			return now
		}
		runtime.Gosched()
	}
}
