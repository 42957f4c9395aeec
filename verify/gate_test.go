package verify_test

import "sync"

// gate blocks the sweeper in reset while it is closed, so that objects pile up on
// the dirty list and tests see states that are normally too short.
type gate struct {
	mu      sync.Mutex
	shut    chan struct{} // closed when the gate opens; nil while it is open
	arrived chan struct{}
}

func newGate() *gate { return &gate{arrived: make(chan struct{}, 1)} }

// pass waits until the gate is open.
func (g *gate) pass() {
	g.mu.Lock()
	shut := g.shut
	g.mu.Unlock()
	if shut != nil {
		g.arrived <- struct{}{}
		<-shut
	}
}

func (g *gate) close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.shut == nil {
		g.shut = make(chan struct{})
	}
}

func (g *gate) open() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.shut != nil {
		close(g.shut)
		g.shut = nil
	}
}

// awaitArrival waits until the sweeper is at the gate, and returns false if that
// takes too long.
func (g *gate) awaitArrival() bool {
	return eventually(func() bool {
		select {
		case <-g.arrived:
			return true
		default:
			return false
		}
	})
}
