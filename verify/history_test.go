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

// kind is the operation of a step of a recorded history. Each step names one record, or
// 0 if there was none.
type kind int

const (
	kindGet     kind = iota // a writer took it from the pool
	kindUpdate              // a writer made it current, with that version
	kindAcquire             // a reader took a reference and found that version
	kindLook                // a reader that holds it read it again and found that version
	kindRelease             // a reader released it
)

// step is the input of an operation for porcupine. It includes the result that the operation
// returned, so there is no output.
type step struct {
	kind      kind
	record    int
	version   uint64
	container int // the container of the operation
}

// recorder runs clients on the containers of one pool and records their operations.
type recorder struct {
	pool       *poolswap.Pool[record, *record]
	containers []*poolswap.Container[record, *record]
	factory    atomic.Int64
	version    atomic.Uint64
	clock      atomic.Int64 // ticks at the beginning and the end of each step
}

func newRecorder(portable bool, containers int) *recorder {
	r := &recorder{}
	// Enough spares for every object that the clients can hold, so that objects
	// are reused as often as possible and none is collected.
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

// client is one goroutine of a history, and the steps it recorded.
type client struct {
	*recorder
	id      int
	history []porcupine.Operation
	pause   func()
}

// do runs op and records its step.
func (c *client) do(op func() step) step {
	call := c.clock.Add(1)
	did := op()
	c.history = append(c.history, porcupine.Operation{ClientId: c.id, Input: did, Call: call, Return: c.clock.Add(1)})
	return did
}

// read acquires, looks so many times, and releases.
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

// seen returns the step of a client that read obj. A broken record has version
// 1<<63, which no client publishes.
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

// run runs each script on its own goroutine and returns the history. The
// containers are empty before and after. No client does anything wrong, so a
// panic fails the test.
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

// follow runs a script: mostly reads, some updates, and now and then it empties a
// container.
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

// randomScripts returns a script of size bytes for each client.
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

// quiescent fails the test unless every object is a spare. It is called when the
// containers are empty and no client holds an object.
func (r *recorder) quiescent(t *testing.T) {
	t.Helper()
	eventually(func() bool { return r.pool.Stats().Spares == int(r.factory.Load()) })
	s := r.pool.Stats()
	if made := r.factory.Load(); s.Spares != int(made) || s.Live != int(made) || s.Created != uint64(made) || s.Drained != s.Updates {
		t.Errorf("%d objects were made and all are free, but Stats says %+v", made, s)
	}
}

// dense renumbers the records of a history from 1 in order of appearance.
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
