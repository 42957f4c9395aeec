package verify_test

import (
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/anishathalye/porcupine"

	"github.com/poolswap/poolswap"
)

// publishKind is the operation of a step of a history of publications.
type publishKind int

const (
	publishPublishes publishKind = iota // published what fill made of saw
	publishUpdates                      // published with Update
	publishEmpties                      // Update(nil)
	publishFills                        // fill was given saw
	publishReads                        // Acquire, VersionOf and Release found saw
	publishVersion                      // Version returned the version of saw
	publishWaits                        // Wait returned the version of saw
)

// publishStep is the input of an operation for porcupine, its result
// included.
type publishStep struct {
	kind  publishKind
	saw   versioned
	made  versioned // the published object; Update does not tell the version
	after uint64    // what Wait was told
	at    int       // the register of the operation
}

// publishRecorder runs clients on registers and records their operations.
type publishRecorder struct {
	registers []register
	value     atomic.Uint64 // a value for Update; far apart, since Publish adds one
	clock     atomic.Int64
	conflicts atomic.Int64
	active    atomic.Int64 // clients that are neither done nor in Wait
}

func newPublishRecorder(registers ...register) *publishRecorder {
	return &publishRecorder{registers: registers}
}

// publishClient is one goroutine of a history, and the steps that it recorded.
type publishClient struct {
	*publishRecorder
	id      int
	history []porcupine.Operation
	seen    []uint64 // the last version that the client saw in each register
	pause   func()
	waiting atomic.Pointer[publishStep] // in Wait, with this at and after
}

// did records a step that began at call.
func (c *publishClient) did(call int64, s publishStep) {
	c.seen[s.at] = max(c.seen[s.at], s.saw.version, s.made.version)
	c.history = append(c.history, porcupine.Operation{ClientId: c.id, Input: s, Call: call, Return: c.clock.Add(1)})
}

// publish adds one to the current value, or fails.
func (c *publishClient) publish(at int, fails bool) {
	call := c.clock.Add(1)
	var saw versioned
	version, err := c.registers[at].publish(func(now versioned) (uint64, error) {
		saw = now
		c.did(call, publishStep{kind: publishFills, saw: saw, at: at})
		call = c.clock.Add(1)
		c.pause()
		if fails {
			return now.value + 1, errFill
		}
		return now.value + 1, nil
	})
	switch err {
	case nil:
		c.did(call, publishStep{kind: publishPublishes, saw: saw, made: versioned{saw.value + 1, version}, at: at})
	case poolswap.ErrConflict:
		c.conflicts.Add(1)
	case errFill:
	default:
		panic(err)
	}
}

func (c *publishClient) update(at int) {
	value := c.value.Add(1) << 32
	call := c.clock.Add(1)
	c.registers[at].update(value)
	c.did(call, publishStep{kind: publishUpdates, made: versioned{value: value}, at: at})
}

func (c *publishClient) empty(at int) {
	call := c.clock.Add(1)
	c.registers[at].empty()
	c.did(call, publishStep{kind: publishEmpties, at: at})
}

func (c *publishClient) read(at int) {
	call := c.clock.Add(1)
	c.did(call, publishStep{kind: publishReads, saw: c.registers[at].read(), at: at})
}

func (c *publishClient) version(at int) {
	call := c.clock.Add(1)
	c.did(call, publishStep{kind: publishVersion, saw: versioned{version: c.registers[at].version()}, at: at})
}

// wait waits for a version above the last one that the client saw.
func (c *publishClient) wait(at int) {
	after := c.seen[at]
	c.waiting.Store(&publishStep{at: at, after: after})
	c.active.Add(-1)
	call := c.clock.Add(1)
	version := c.registers[at].wait(after)
	c.active.Add(1)
	c.waiting.Store(nil)
	c.did(call, publishStep{kind: publishWaits, saw: versioned{version: version}, after: after, at: at})
}

// follow runs a script.
func (c *publishClient) follow(s *script) {
	for len(*s) > 0 {
		choice := s.pick(64)
		at := choice / 32 % len(c.registers)
		switch choice %= 32; {
		case choice < 14:
			c.publish(at, choice == 13)
		case choice < 17:
			c.update(at)
		case choice == 17:
			c.empty(at)
		case choice < 25:
			c.read(at)
		case choice < 30:
			c.version(at)
		default:
			c.wait(at)
		}
		c.pause()
	}
}

// run runs each script on its own goroutine and returns the history. The
// registers are empty before and after.
func (r *publishRecorder) run(t *testing.T, scripts []script) []porcupine.Operation {
	t.Helper()
	newClient := func(id int) *publishClient {
		return &publishClient{publishRecorder: r, id: id, seen: make([]uint64, len(r.registers)), pause: func() {}}
	}
	clients := make([]*publishClient, len(scripts), len(scripts)+1)
	r.active.Store(int64(len(scripts)))
	var running atomic.Int64
	running.Store(int64(len(scripts)))
	var done sync.WaitGroup
	start := make(chan struct{})
	for i, s := range scripts {
		c := newClient(i)
		c.pause = func() {
			if s.pick(4) == 0 {
				runtime.Gosched()
			}
		}
		clients[i] = c
		done.Go(func() {
			defer running.Add(-1)
			defer r.active.Add(-1)
			<-start
			if out := onAnother(func() { c.follow(&s) }); out != (outcome{}) {
				t.Errorf("client %d: %+v", i, out)
			}
		})
	}
	close(start)

	// When all others wait or are done, the last client publishes for one that
	// waits for a version that is not there. One that waits for a version that is
	// there must see it by itself.
	last := newClient(len(scripts))
	stuck := func() bool {
		if running.Load() == 0 || r.active.Load() > 0 {
			return false
		}
		at, needed := r.needed(clients)
		if needed {
			last.publish(at, false)
		}
		return !needed
	}
	for running.Load() > 0 {
		runtime.Gosched()
		if stuck() && !eventually(func() bool { return !stuck() }) {
			t.Errorf("a Wait has missed a version")
			for at := range r.registers {
				last.publish(at, false)
			}
		}
	}
	done.Wait()
	for at := range r.registers {
		last.empty(at)
	}
	var history []porcupine.Operation
	for _, c := range append(clients, last) {
		history = append(history, c.history...)
	}
	return history
}

// needed returns a register in which a client waits for a version that is not
// there.
func (r *publishRecorder) needed(clients []*publishClient) (at int, needed bool) {
	for _, c := range clients {
		if w := c.waiting.Load(); w != nil && w.after >= r.registers[w.at].version() {
			return w.at, true
		}
	}
	return 0, false
}

// publishModel is a register that is replaced as a whole, by read-modify-write
// too, with versions that grow. kinds are the steps that it is about: Version
// tells of a publication a moment after Acquire does, so each has a model.
func publishModel(kinds ...publishKind) porcupine.Model {
	kinds = append(kinds, publishPublishes, publishUpdates, publishEmpties, publishFills)
	return porcupine.Model{
		Partition: func(history []porcupine.Operation) [][]porcupine.Operation {
			parts := make([][]porcupine.Operation, maxContainers)
			for _, op := range history {
				if s := op.Input.(publishStep); slices.Contains(kinds, s.kind) {
					parts[s.at] = append(parts[s.at], op)
				}
			}
			return parts
		},
		Init:              func() any { return publishState{} },
		Step:              func(state, input, _ any) (bool, any) { return state.(publishState).step(input.(publishStep)) },
		DescribeOperation: func(input, _ any) string { return input.(publishStep).String() },
		DescribeState:     func(state any) string { return state.(publishState).String() },
	}
}
