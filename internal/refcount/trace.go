package refcount

import (
	"github.com/poolswap/poolswap/internal/seam"
	"github.com/poolswap/poolswap/internal/stripe"
)

// This file decides which versions are traced and switches the read path. All
// references to a traced version are recorded, from its publication to its drain;
// those to any other are not. So a reader pays for tracing only while a traced
// version is current, or when it releases one.
//
// The assembly records nothing. While a traced version can be current, the word
// that the assembly compares first says that reads go through the methods, in
// every container of the pool: an object may be released through any of them.

// tracer belongs to a pool.
type tracer struct {
	// on is false while no publication is to be traced or looked at: the usual
	// case, in which a publication loads this word and no more. Written under mu.
	on seam.Bool

	mu     seam.Mutex // held while the world stops, never while a function of the user runs
	wanted int        // versions still to be traced; negative: all; guarded by mu
	since  int        // publications since a version was found to be held too long; guarded by mu
	live   int        // traced versions that are current, about to be, or about to retire; guarded by mu
	slow   bool       // reads go through the methods; guarded by mu

	references references
}

// tracing is the decision about one publication.
type tracing struct {
	traced   bool
	asked    bool                // by Trace, and not by a version that is held too long
	findings []*HeldTooLongError // to report when the publication is over
}

// Trace traces as many of the next publications of the pool; a negative number:
// all.
func (p *Pool) Trace(versions int) {
	p.Check("Trace")
	t := &p.tracer
	t.mu.Lock()
	defer t.mu.Unlock()
	t.wanted = versions

	// (X1) Say that publications are to be looked at. A publication that is under
	// way may have looked before; it comes before this call.
	t.on.Store(versions != 0 || p.HeldTooLong > 0) // (X1)
}

// beginTracing decides whether a publication that is about to be made is traced. If it
// is, every later read of a container of the pool goes through the methods until
// resumeAssembly lets them go.
func (p *Pool) beginTracing() (d tracing) {
	t := &p.tracer
	if !t.on.Load() {
		return d
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	late := false
	if p.HeldTooLong > 0 {
		d.findings, late = p.heldTooLong()
	}
	d.asked = t.wanted != 0
	d.traced = d.asked || t.sample(late)
	if !d.traced {
		return d
	}
	if t.wanted > 0 {
		t.wanted--
	}
	t.live++ // until it is retiring
	if t.slow {
		return d
	}
	t.slow = true
	for _, s := range p.slots.all() {
		// (X2) Send reads through the methods, before the version that they are to
		// record is current.
		s.useAsm.Store(nil) // (X2)
	}
	// (X3) Wait for the readers that have passed the comparison already and are
	// in the assembly: the heavy fence does not wait for them. The runtime does not
	// preempt assembly, so a stop of the world comes after it.
	if UsesAsm() {
		seam.StopTheWorld() // (X3)
	}
	return d
}

// mostApart is how many publications are at most between two that are traced while
// versions are held too long.
const mostApart = 1024

// sample reports whether to trace a publication although it was not asked for: the
// first few after a version was found to be held too long, and then ever fewer for as
// long as one is.
func (t *tracer) sample(late bool) bool {
	if !late {
		t.since = 0
		return false
	}
	n := t.since
	t.since++
	return n < 4 || n&(n-1) == 0 || n%mostApart == 0
}

// cancelTracing takes back the decision about a publication that failed.
func (p *Pool) cancelTracing(d tracing) {
	if !d.traced {
		return
	}
	t := &p.tracer
	t.mu.Lock()
	defer t.mu.Unlock()
	if d.asked && t.wanted >= 0 && t.on.Load() {
		t.wanted++
	}
	p.resumeAssembly()
}

// retiredTraced is called once for each traced version: when it is retiring, is lost, or
// was collected with its container.
func (p *Pool) retiredTraced() {
	p.tracer.mu.Lock()
	defer p.tracer.mu.Unlock()
	p.resumeAssembly()
}

// endTraced closes the records of a version that has drained or is lost, if it was
// traced, and returns the suspects.
func (p *Pool) endTraced(counters *stripe.Counters) []Holder {
	if !counters.Publication.Traced.Load() {
		return nil
	}
	return p.tracer.references.end(counters)
}

// resumeAssembly counts a traced version less, and sends reads through the assembly
// again if it was the last. The caller holds the tracer's mutex.
func (p *Pool) resumeAssembly() {
	t := &p.tracer
	if t.live--; t.live > 0 {
		return
	}
	t.slow = false
	for _, s := range p.slots.all() {
		s.resumeAssembly()
	}
}

// resumeAssembly has reads of s go through the assembly, if there is one. The caller
// holds the tracer's mutex.
func (s *Slot) resumeAssembly() {
	if !useAsm {
		return
	}
	// (X5) Back to the assembly. A traced version that readers still hold is retiring
	// by (T1), or further, before this store: the assembly leaves the Release of such
	// an object to the methods, which know its record.
	s.useAsm.Store(s) // (X5)
}

// heldTooLong returns the versions that are held for longer than HeldTooLong and were
// not found before, and whether there is one at all.
func (p *Pool) heldTooLong() (findings []*HeldTooLongError, late bool) {
	p.registry.each(func(e *entry) bool {
		held := e.counters.Held() // 0: it is about to drain
		if e.phase != retired || held == 0 || p.leftFor(e.counters) < p.HeldTooLong {
			return true
		}
		late = true
		version := e.counters.Publication.Version.Load()
		if e.late == version {
			return true
		}
		e.late = version
		findings = append(findings, &HeldTooLongError{
			Type: p.TypeName, Version: version, Age: p.leftFor(e.counters), References: held,
			Holders: p.tracer.references.of(e.counters),
		})
		return true
	})
	return findings, late
}

// reportHeldTooLong reports what a publication has found.
func (p *Pool) reportHeldTooLong(d tracing) {
	if p.Reports == nil {
		return
	}
	for _, finding := range d.findings {
		p.Reports.HeldTooLong(finding)
	}
}
