//go:build linux && !race && !purego

#include "textflag.h"

// FIND puts the place of this P's counters in reg: goroutine, thread, P, number,
// times the size of a line.
#define FIND(reg) \
	MOVQ	48(R14), reg \
	MOVQ	208(reg), reg \
	MOVL	(reg), reg \
	SHLQ	$7, reg

// func emptyAcquire(memory unsafe.Pointer) (failed, obj unsafe.Pointer)
TEXT ·emptyAcquire(SB), NOSPLIT, $0-24
	RET

// func emptyRelease(memory, obj unsafe.Pointer)
TEXT ·emptyRelease(SB), NOSPLIT, $0-16
	RET

// func findAcquire(memory unsafe.Pointer) (failed, obj unsafe.Pointer)
TEXT ·findAcquire(SB), NOSPLIT, $0-24
	MOVQ	memory+0(FP), AX
	FIND(CX)
	MOVQ	AX, obj+16(FP)
	RET

// func findRelease(memory, obj unsafe.Pointer)
TEXT ·findRelease(SB), NOSPLIT, $0-16
	MOVQ	obj+8(FP), AX
	FIND(CX)
	RET

// func plainAcquire(memory unsafe.Pointer) (failed, obj unsafe.Pointer)
TEXT ·plainAcquire(SB), NOSPLIT, $0-24
	MOVQ	memory+0(FP), AX
	FIND(CX)
	INCQ	0(AX)(CX*1)
	MOVQ	AX, obj+16(FP)
	RET

// func plainRelease(memory, obj unsafe.Pointer)
TEXT ·plainRelease(SB), NOSPLIT, $0-16
	MOVQ	obj+8(FP), AX
	FIND(CX)
	INCQ	8(AX)(CX*1)
	RET

// func lockedAcquire(memory unsafe.Pointer) (failed, obj unsafe.Pointer)
TEXT ·lockedAcquire(SB), NOSPLIT, $0-24
	MOVQ	memory+0(FP), AX
	FIND(CX)
	LOCK
	INCQ	0(AX)(CX*1)
	MOVQ	AX, obj+16(FP)
	RET

// func lockedRelease(memory, obj unsafe.Pointer)
TEXT ·lockedRelease(SB), NOSPLIT, $0-16
	MOVQ	obj+8(FP), AX
	FIND(CX)
	LOCK
	INCQ	8(AX)(CX*1)
	RET
