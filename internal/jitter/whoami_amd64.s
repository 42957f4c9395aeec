//go:build poolswapsched

#include "textflag.h"

// func whoami() identity
TEXT ·whoami(SB), NOSPLIT, $0-8
	MOVQ	(TLS), AX
	MOVQ	AX, ret+0(FP)
	RET
