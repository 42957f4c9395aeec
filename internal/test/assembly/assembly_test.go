package assembly_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/poolswap/poolswap/internal/test/assembly"
)

const source = `#include "textflag.h"

// ADDTWICE adds by twice.
#define ADDTWICE(by, to) \
	ADDQ	by, to \
	ADDQ	by, to

// func f(n int)
TEXT ·f(SB), NOSPLIT, $0-8
	MOVQ	n+0(FP), AX
again:
	ADDTWICE(DX, AX) // twice
	LOCK // the next alone
	INCQ	8(SI)(CX*1)
	JNE	again
	RET
`

func TestWhatTheSourceSays(t *testing.T) {
	funcs, err := assembly.Parse(source)
	if err != nil {
		t.Fatal(err)
	}
	f := funcs["f"]
	want := []string{
		"line 10: MOVQ n+0(FP), AX",
		"line 12: ADDQ DX, AX", "line 12: ADDQ DX, AX",
		"line 14: LOCK INCQ 8(SI)(CX*1)",
		"line 15: JNE again", "line 16: RET ",
	}
	if got := fmt.Sprintf("%v", f.Code); got != fmt.Sprint(want) {
		t.Errorf("the code is %v, want %v", got, want)
	}
	if f.Labels["again"] != 1 {
		t.Errorf("the labels are %v", f.Labels)
	}
}

func TestWhatCannotBeReadIsNamed(t *testing.T) {
	for from, to := range map[string]string{
		"ADDTWICE(DX, AX)": "ADDTHRICE(DX, AX)",
		"(DX, AX)":         "(DX)",
		"TEXT ·f(SB)":      "DATA ·f(SB)",
	} {
		if _, err := assembly.Parse(strings.Replace(source, from, to, 1)); err == nil || !strings.Contains(err.Error(), "line ") {
			t.Errorf("with %s in place of %s: %v", to, from, err)
		}
	}
}
