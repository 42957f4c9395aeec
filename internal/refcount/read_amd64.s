//go:build linux && amd64 && !purego && !race && !poolswapsched

#include "go_asm.h"
#include "textflag.h"

// PNUMBER puts the number of this P in reg. Only Go functions call these, and
// they have g in R14.
#define PNUMBER(reg) \
	MOVQ	const_gM(R14), reg \
	MOVQ	const_mP(reg), reg \
	MOVL	(reg), reg

// STRIPE turns the number of a P in k, which may be beyond the stripes, into
// the place of its stripe, or of the overflow, relative to counters.
#define STRIPE(k, counters, tmp) \
	MOVQ	const_countersOwned(counters), tmp \
	CMPQ	k, tmp \
	CMOVQGT	tmp, k \
	SHLQ	$const_countersShift, k

// func Acquire(s *Slot) (failed *Object, obj unsafe.Pointer)
TEXT ·Acquire(SB), NOSPLIT, $0-24
	MOVQ	s+0(FP), AX
	CMPQ	AX, Slot_useAsm(AX) // a copy has another address
	JNE	on
	PNUMBER(CX)                             // (A1)
	MOVQ	Slot_current(AX), BX            // (A2)
	TESTQ	BX, BX
	JEQ	on
	MOVQ	Object_counters(BX), SI
	TESTQ	SI, SI // nil if the program overwrote the Ref
	JEQ	on
	CMPQ	CX, const_countersPlain(SI)
	JCC	atomically
	SHLQ	$const_countersShift, CX
	INCQ	const_countersAcquired(SI)(CX*1) // (A3)
validate:
	CMPQ	BX, Slot_current(AX)            // (A4)
	JNE	undo
	SUBQ	Slot_offset(AX), BX
	MOVQ	BX, obj+16(FP)
	RET
atomically: // portable counters, or no stripe for this P
	STRIPE(CX, SI, DX)
	LOCK
	INCQ	const_countersAcquired(SI)(CX*1)
	JMP	validate
undo:
	LOCK // harmless with plain counters: the stripe belongs to this P
	INCQ	const_countersReleased(SI)(CX*1) // (A5)
	MOVQ	BX, failed+8(FP)
	JMP	·acquireFallback(SB)
on:
	MOVQ	$0, failed+8(FP)
	JMP	·acquireFallback(SB)

// func Release(s *Slot, obj unsafe.Pointer)
TEXT ·Release(SB), NOSPLIT, $0-16
	MOVQ	s+0(FP), AX
	CMPQ	AX, Slot_useAsm(AX)
	JNE	on
	MOVQ	obj+8(FP), BX
	TESTQ	BX, BX
	JEQ	on
	ADDQ	Slot_offset(AX), BX
	MOVQ	Slot_pool(AX), DX
	CMPQ	DX, Object_pool(BX)
	JNE	on
	MOVQ	Object_counters(BX), SI
	TESTQ	$const_statePhaseMask, const_countersState(SI) // (R1)
	JNE	on
	PNUMBER(CX)                             // (R2)
	CMPQ	CX, const_countersPlain(SI)
	JCC	atomically
	SHLQ	$const_countersShift, CX
	INCQ	const_countersReleased(SI)(CX*1) // (R3)
look:
	TESTQ	$const_statePhaseMask, const_countersState(SI) // (R4)
	JNE	late
	RET
atomically:
	STRIPE(CX, SI, DX)
	LOCK
	INCQ	const_countersReleased(SI)(CX*1)
	JMP	look
late:
	JMP	·releaseLate(SB)
on:
	JMP	·releaseFallback(SB)
