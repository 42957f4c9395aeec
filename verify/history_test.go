package verify_test

import (
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/anishathalye/porcupine"
	"github.com/poolswap/poolswap"
)

// kind is what a step of a recorded history did. Every step is about one
// record, the one it names; a record is 0 where there was none.
type kind int

const (
	kindGet     kind = iota // a writer took it from the pool
	kindUpdate              // a writer made it current, with that version
	kindAcquire             // a reader took a reference and found that version
	kindLook                // a reader that holds it looked again and found that version
	kindRelease             // a reader gave the reference back
)

// step is the input of an operation as porcupine sees it; there is no output,
// because what was returned is in the step itself.
type step struct {
	kind      kind
	record    int
	version   uint64
	container int // that was updated or acquired from
}

// recorder runs clients on one container, or on two of one pool, and records
// what they did.
type recorder struct {
	pool       *poolswap.Pool[record, *record]
	containers []*poolswap.Container[record, *record]
	factory    atomic.Int64
	version    atomic.Uint64
	clock      atomic.Int64 // one tick for each beginning and each end of a step
}

func newRecorder(portable bool, containers int) *recorder {
	r := &recorder{}
	// There are spares enough for every object that the clients can hold, so
	// that objects live as many lives as possible, and none is collected.
	options := poolswap.Options[record]{Spares: maxRecords, Portable: portable}
	r.pool = poolswap.NewPoolWithOptions(func() *record {
		return &record{id: int(r.factory.Add(1))}
	}, func(obj *record) bool {
		obj.fill(poisoned)
		return true
	}, options)
	for range containers {
		r.containers = append(r.containers, poolswap.NewEmptyContainer(r.pool))
	}
	return r
}

// client is one goroutine of a history and what it recorded.
type client struct {
	*recorder
	id      int
	history []porcupine.Operation
	pause   func()
}

// do records a step that op carries out.
func (c *client) do(op func() step) step {
	call := c.clock.Add(1)
	did := op()
	c.history = append(c.history, porcupine.Operation{ClientId: c.id, Input: did, Call: call, Return: c.clock.Add(1)})
	return did
}

// read acquires, looks as often as told, and releases.
func (c *client) read(container, looks int) {
	var obj *record
	acquired := c.do(func() step {
		obj = c.containers[container].Acquire()
		return seen(kindAcquire, obj, container)
	})
	if acquired.record == 0 {
		return
	}
	for range looks {
		c.pause()
		c.do(func() step { return seen(kindLook, obj, container) })
	}
	c.do(func() step {
		c.containers[container].Release(obj)
		return step{kindRelease, acquired.record, 0, container}
	})
}

// seen is a step that read obj. A record whose words do not agree is of the
// version 1<<63, which nobody publishes.
func seen(k kind, obj *record, container int) step {
	if obj == nil {
		return step{kind: k, container: container}
	}
	version, err := obj.read()
	if err != nil {
		version = 1 << 63
	}
	return step{k, obj.id, version, container}
}

// write replaces the current object.
func (c *client) write(container int) {
	var obj *record
	got := c.do(func() step {
		obj = c.containers[container].GetNew()
		return step{kindGet, obj.id, 0, container}
	})
	version := c.version.Add(1)
	obj.fill(version)
	c.pause()
	c.do(func() step {
		c.containers[container].Update(obj)
		return step{kindUpdate, got.record, version, container}
	})
}

// empty leaves the container without an object.
func (c *client) empty(container int) {
	c.do(func() step {
		c.containers[container].Update(nil)
		return step{kind: kindUpdate, container: container}
	})
}

// run carries out the scripts, each on a goroutine of its own, and returns
// what happened. The containers are empty before and after. A client that the
// pool refuses something fails the test: none of them does anything wrong.
func (r *recorder) run(t *testing.T, scripts []script) []porcupine.Operation {
	t.Helper()
	clients := make([]*client, len(scripts))
	var done sync.WaitGroup
	start := make(chan struct{})
	for i, s := range scripts {
		c := &client{recorder: r, id: i}
		c.pause = func() {
			if s.pick(4) == 0 {
				runtime.Gosched()
			}
		}
		clients[i] = c
		done.Go(func() {
			<-start
			if out := onAnother(func() { c.follow(&s) }); out != (outcome{}) {
				t.Errorf("client %d: %+v", i, out)
			}
		})
	}
	close(start)
	done.Wait()
	last := &client{recorder: r, id: len(scripts)}
	for container := range r.containers {
		last.empty(container)
	}
	var history []porcupine.Operation
	for _, c := range clients {
		history = append(history, c.history...)
	}
	return append(history, last.history...)
}

// follow carries out one script: mostly reads, some updates, now and then a
// container is emptied.
func (c *client) follow(s *script) {
	for len(*s) > 0 {
		choice := s.pick(32)
		container := choice / 16 % len(c.containers)
		switch choice %= 16; {
		case choice < 10:
			c.read(container, choice%3)
		case choice < 15:
			c.write(container)
		default:
			c.empty(container)
		}
		c.pause()
	}
}

// randomScripts returns scripts for so many clients of so many bytes each.
func randomScripts(random *rand.Rand, clients, size int) []script {
	scripts := make([]script, clients)
	for i := range scripts {
		scripts[i] = make(script, size)
		for j := range scripts[i] {
			scripts[i][j] = byte(random.Uint32())
		}
	}
	return scripts
}

// quiescent fails the test unless every object that was ever made is a spare,
// as it must be when nobody holds or publishes any.
func (r *recorder) quiescent(t *testing.T) {
	t.Helper()
	eventually(func() bool { return r.pool.Stats().Spares == int(r.factory.Load()) })
	s := r.pool.Stats()
	if made := r.factory.Load(); s.Spares != int(made) || s.Live != int(made) || s.Created != uint64(made) || s.Drained != s.Updates {
		t.Errorf("%d objects were made and all given back, but the accounts are %+v", made, s)
	}
}

// dense numbers the records of a history from 1 in order of appearance.
func dense(history []porcupine.Operation) []porcupine.Operation {
	slices.SortFunc(history, func(a, b porcupine.Operation) int { return int(a.Call - b.Call) })
	ids := map[int]int{0: 0}
	for i, op := range history {
		s := op.Input.(step)
		if _, known := ids[s.record]; !known {
			ids[s.record] = len(ids)
		}
		s.record = ids[s.record]
		history[i].Input = s
	}
	return history
}
