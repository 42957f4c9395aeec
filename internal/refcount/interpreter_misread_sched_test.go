//go:build poolswapsched

package refcount_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/poolswap/poolswap/internal/refcount"
)

// TestTheInterpreterRefusesWhatItWouldMisread: it knows the instructions as the
// assembly uses them. Another use may mean something else on the processor.
func TestTheInterpreterRefusesWhatItWouldMisread(t *testing.T) {
	source, err := os.ReadFile("read_amd64.s")
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ name, old, with, want string }{
		{
			"a jump on the flags of an addition",
			"ADDQ\tSlot_offset(AX), BX\n", "ADDQ\tSlot_offset(AX), BX\n\tJEQ\ton\n", "unknown to the interpreter: flags that are not those of a comparison",
		},
		{
			"a jump on the flags of an increment",
			"INCQ\tconst_countersAcquired(SI)(CX*1) // (A3)\n", "INCQ\tconst_countersAcquired(SI)(CX*1)\n\tJEQ\ton\n", "unknown to the interpreter: flags that are not those of a comparison",
		},
		{
			"the number of the P read as 64 bits",
			"MOVL\t(reg), reg", "MOVQ\t(reg), reg", "unknown to the interpreter: a load of (CX)",
		},
		{
			"half of a pointer",
			"MOVQ\tSlot_current(AX), BX ", "MOVL\tSlot_current(AX), BX ", "unknown to the interpreter: 32 bits of Slot_current(AX)",
		},
		{
			"a register that nothing was put in",
			"MOVQ\tObject_counters(BX), SI\n\tTESTQ\tSI, SI", "TESTQ\tSI, SI", "SI is read before it is written",
		},
		{
			"an argument of the Go function that nothing was put in",
			"MOVQ\t$0, failed+8(FP)\n", "", "failed+8(FP) is read before it is written",
		},
		{
			"a result that nothing was put in",
			"MOVQ\tBX, obj+16(FP)\n", "", "obj+16(FP) is read before it is written",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			changed := strings.ReplaceAll(string(source), test.old, test.with)
			if changed == string(source) {
				t.Fatalf("read_amd64.s has no %q", test.old)
			}
			in, err := refcount.InterpreterOf(changed)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(refcount.StepThrough(in))
			s := scenario{containers: 1, spares: 1, threads: func(l *harness, c []*watched) {
				l.reader(c[0], 1)
				l.Start("writer", func() { l.update(c[0], nil) })
				l.reader(c[0], 1) // may find it empty
			}}
			failure := func() (text string) {
				defer func() {
					if value := recover(); value != nil {
						text = fmt.Sprint(value)
					}
				}()
				if r := s.explore(1000); r.Failure != nil {
					text = fmt.Sprint(r.Failure)
				}
				return text
			}()
			if !strings.Contains(failure, test.want) {
				t.Errorf("it runs: %q, want %q", failure, test.want)
			}
		})
	}
}
