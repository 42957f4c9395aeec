//go:build linux && amd64 && !purego && !race && !poolswapsched

#include "go_asm.h"
#include "textflag.h"

// PNUMBER puts the number of this P in reg. Only Go functions call these, and
// they have g in R14.
#define PNUMBER(reg) \
	MOVQ	const_gM(R14), reg \
	MOVQ	const_mP(reg), reg \
	MOVLQSX	(reg), reg

// STRIPE turns the number of a P in k, which may be beyond the stripes, into
// the place of its stripe, or of the overflow, relative to counters.
#define STRIPE(k, counters, tmp) \
	MOVQ	const_countersOwned(counters), tmp \
	CMPQ	k, tmp \
	CMOVQGT	tmp, k \
	SHLQ	$const_countersShift, k

// func acquire(s *slot) (failed *Ref, obj unsafe.Pointer)
TEXT ·acquire(SB), NOSPLIT, $0-24
	MOVQ	s+0(FP), AX
	CMPQ	AX, slot_direct(AX) // not so in a copy, either
	JNE	on
	PNUMBER(CX)                             // (A1)
	MOVQ	slot_current(AX), BX            // (A2)
	TESTQ	BX, BX
	JEQ	on
	MOVQ	Ref_counters(BX), SI
	CMPQ	CX, const_countersPlain(SI)
	JCC	atomically
	SHLQ	$const_countersShift, CX
	INCQ	const_countersAcquired(SI)(CX*1) // (A3)
validate:
	CMPQ	BX, slot_current(AX)            // (A4)
	JNE	undo
	SUBQ	slot_offset(AX), BX
	MOVQ	BX, obj+16(FP)
	RET
atomically: // the portable way, or no stripe for this P
	STRIPE(CX, SI, DX)
	LOCK
	INCQ	const_countersAcquired(SI)(CX*1)
	JMP	validate
undo:
	LOCK // no harm on the asymmetric way, where the stripe is this P's
	INCQ	const_countersReleased(SI)(CX*1) // (A5)
	MOVQ	BX, failed+8(FP)
	JMP	·acquireOn(SB)
on:
	MOVQ	$0, failed+8(FP)
	JMP	·acquireOn(SB)

// func release(s *slot, obj unsafe.Pointer)
TEXT ·release(SB), NOSPLIT, $0-16
	MOVQ	s+0(FP), AX
	CMPQ	AX, slot_direct(AX)
	JNE	on
	MOVQ	obj+8(FP), BX
	TESTQ	BX, BX
	JEQ	on
	ADDQ	slot_offset(AX), BX
	MOVQ	slot_pool(AX), DX
	CMPQ	DX, Ref_pool(BX)
	JNE	on
	MOVQ	Ref_counters(BX), SI
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
	JMP	·releaseOn(SB)
