package misuse

import (
	"golang.org/x/tools/go/ssa"

	"github.com/poolswap/poolswap/poolswapvet/internal/refs"
)

// SlabEscape reports a string of a slab that is used, or returned, when its object is
// released.
var SlabEscape = analyzer("slabescape",
	"report a string of a slab in an object that is returned, stored or used when the object was released: it is valid until then (strings.Clone keeps it)",
	func(fn *function) {
		for v, flow := range fn.released(refs.Release) {
			for _, s := range refs.SlabStrings(flow) {
				fn.partUses(v, flow, s)
			}
		}
	})

// partUses reports the uses of a string of a slab after the Release of its object.
func (fn *function) partUses(_ ssa.Value, flow *refs.Flow, s ssa.Value) {
	const what = "a string of a slab"
	for _, use := range *s.Referrers() {
		for _, end := range flow.Defers {
			if isRelease(end) && refs.Returns(use, s) && refs.Dominates(end, use) {
				fn.report(use.Pos(), what+" is returned, and the deferred Release in line %d runs before the caller has it (strings.Clone keeps it)", fn.line(end.Pos()))
			}
		}
		for _, end := range flow.Releases {
			if isRelease(end) && refs.Dominates(end, use) && refs.Reads(use) && use.Pos().IsValid() {
				fn.report(use.Pos(), what+" is used after the Release of its object in line %d (strings.Clone keeps it)", fn.line(end.Pos()))
			}
		}
		store, ok := use.(*ssa.Store)
		if ok && store.Val == s && outlives(store.Addr) && len(flow.Releases)+len(flow.Defers) > 0 {
			fn.report(store.Pos(), what+" is stored beyond the Release of its object (strings.Clone keeps it)")
		}
	}
}
