//go:build poolswapsched

package sched

import (
	"fmt"
	"strings"

	"github.com/poolswap/poolswap/internal/seam"
)

// trace records the steps of a run; a nil trace records nothing.
type trace struct{ text strings.Builder }

func (t *trace) step(w *World, th *thread) {
	if t == nil {
		return
	}
	fmt.Fprintf(&t.text, "\n%d %-12s ", th.id, th.name)
	if th.cpu >= 0 {
		fmt.Fprintf(&t.text, "cpu%d ", th.cpu)
	} else {
		t.text.WriteString("     ")
	}
	fmt.Fprintf(&t.text, "%s %s", th.op, w.nameOf(th.at))
}

func (t *trace) note(w *World, th *thread, op seam.Op, at *word) {
	if t != nil {
		fmt.Fprintf(&t.text, "; %s %s", op, w.nameOf(at))
	}
}

func (t *trace) observed(value uint64) {
	if t != nil {
		fmt.Fprintf(&t.text, " = %#x", value)
	}
}

func (t *trace) flush(w *World, c int) {
	if t != nil {
		fmt.Fprintf(&t.text, "\n  %-12s cpu%d flushes %s", "", c, w.nameOf(w.cpus[c].buffer[0].count))
	}
}

func (w *World) nameOf(at *word) string {
	if at == nil {
		return ""
	}
	if name, ok := w.labels[at.addr]; ok {
		return name
	}
	return fmt.Sprintf("word %d", at.id%1000)
}
