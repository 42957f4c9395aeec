package refcount

import "github.com/poolswap/poolswap/internal/seam"

// wakeup lets goroutines wait for a change of shared state. One that waits asks
// for the signal, looks at the state, and waits if it is not as it wants. One
// that changes the state wakes after the change. It costs one load when no
// goroutine has asked, and it works without a lock, since a reader may lose an
// object and a cleanup of the runtime may wake.
type wakeup struct {
	signal seam.Pointer[seam.Signal] // nil while no goroutine has asked since the last wake
}

// next returns the signal that the next wake fires. Several goroutines get one
// signal.
func (w *wakeup) next() *seam.Signal {
	for {
		if signal := w.signal.Load(); signal != nil {
			return signal
		}
		// (W1) Ask, and only then look at the state. In the one order of these
		// atomics either the change comes before the look, which sees it, or
		// the look comes before the change: then the signal is there when (W2)
		// comes, after the change. So no wake-up is lost. A wake for an earlier
		// change may come between; then the goroutine looks once in vain, and
		// asks again.
		signal := seam.NewSignal()
		if w.signal.CompareAndSwap(nil, signal) { // (W1)
			return signal
		}
	}
}

// wake wakes all who asked.
func (w *wakeup) wake() {
	if w.signal.Load() == nil {
		return
	}
	// (W2) Wake, after the change. Of several goroutines that wake, one
	// takes the signal out and fires it. One that asks after that gets a new
	// signal, and looks at the state after the change.
	if signal := w.signal.Swap(nil); signal != nil { // (W2)
		signal.Fire()
	}
}

// wakeIf wakes all who asked for this signal, unless it has fired. A goroutine that
// asked and does not wait any more calls it, so that it leaves no signal behind;
// others that wait for the signal look once in vain. A writer or a cleanup of the
// runtime could fire a signal that stayed when the goroutine is long gone, which is
// fatal if that was in a bubble of testing/synctest.
func (w *wakeup) wakeIf(signal *seam.Signal) {
	if w.signal.CompareAndSwap(signal, nil) { // (W2)
		signal.Fire()
	}
}
