//go:build poolswapsched

package sched

import (
	"fmt"
	"strings"
	"unsafe"

	"github.com/poolswap/poolswap/internal/seam"
)

// trace writes down the steps of a run; a nil trace writes nothing.
type trace struct{ text strings.Builder }

func (t *trace) step(w *World, th *thread) {
	if t == nil {
		return
	}
	fmt.Fprintf(&t.text, "\n%-12s ", th.name)
	if th.cpu >= 0 {
		fmt.Fprintf(&t.text, "cpu%d ", th.cpu)
	} else {
		t.text.WriteString("     ")
	}
	fmt.Fprintf(&t.text, "%s %s", th.op, w.label(th.addr))
}

func (t *trace) note(w *World, th *thread, op seam.Op, addr unsafe.Pointer) {
	if t != nil {
		fmt.Fprintf(&t.text, "; %s %s", op, w.label(addr))
	}
}

func (t *trace) observed(value uint64) {
	if t != nil {
		fmt.Fprintf(&t.text, " = %#x", value)
	}
}

func (t *trace) letOut(w *World, c int) {
	if t != nil {
		fmt.Fprintf(&t.text, "\n%-12s cpu%d lets out %s", "", c, w.label(unsafe.Pointer(w.cpus[c].buffer[0].count)))
	}
}

func (w *World) label(addr unsafe.Pointer) string {
	if addr == nil {
		return ""
	}
	if name, ok := w.labels[addr]; ok {
		return name
	}
	return fmt.Sprintf("word %d", w.words[addr].id%1000)
}
