package main

// assemblyFaults are planted in the assembly that stands for the methods. No
// build with a tag has it, but the layer "stepped" runs its instructions under the
// scheduler.
var assemblyFaults = []fault{
	{"assembly, A3: an acquire is not counted", "internal/refcount/read_amd64.s", []edit{
		{
			`	INCQ	const_countersAcquired(SI)(CX*1) // (A3)`,
			`	// (A3)`,
		},
	}},
	{"assembly, A4: no re-validation", "internal/refcount/read_amd64.s", []edit{
		{
			`	JNE	undo
`,
			``,
		},
	}},
	{"assembly, A5: no undo", "internal/refcount/read_amd64.s", []edit{
		{
			`	LOCK // harmless with plain counters: the stripe belongs to this P
	INCQ	const_countersReleased(SI)(CX*1) // (A5)
`,
			`	// (A5)
`,
		},
	}},
	{"assembly, A5: no check after the undo", "internal/refcount/read_amd64.s", []edit{
		{
			`	MOVQ	BX, failed+8(FP)`,
			`	MOVQ	$0, failed+8(FP)`,
		},
	}},
	{"assembly, R1: whatever the phase", "internal/refcount/read_amd64.s", []edit{
		{
			`	TESTQ	$const_statePhaseMask, const_countersState(SI) // (R1)
	JNE	on
`,
			`	// (R1)
`,
		},
	}},
	{"assembly, R3: a release is not counted", "internal/refcount/read_amd64.s", []edit{
		{
			`	INCQ	const_countersReleased(SI)(CX*1) // (R3)`,
			`	// (R3)`,
		},
	}},
	{"assembly, R4: no check after a late release", "internal/refcount/read_amd64.s", []edit{
		{
			`	JNE	late
`,
			``,
		},
	}},
	{"assembly, A2: the result is loaded again", "internal/refcount/read_amd64.s", []edit{
		{
			`	SUBQ	Slot_offset(AX), BX
`,
			`	MOVQ	Slot_current(AX), BX
	SUBQ	Slot_offset(AX), BX
`,
		},
	}},
	{"assembly, A3: atomic counters without LOCK", "internal/refcount/read_amd64.s", []edit{
		{
			`	LOCK
	INCQ	const_countersAcquired(SI)(CX*1)
	JMP	validate`,
			`	INCQ	const_countersAcquired(SI)(CX*1)
	JMP	validate`,
		},
	}},
	{"assembly, A3 after A4: counted after the re-validation", "internal/refcount/read_amd64.s", []edit{
		{
			`	INCQ	const_countersAcquired(SI)(CX*1) // (A3)
`,
			`	// (A3)
`,
		},
		{
			`	JNE	undo
	SUBQ`,
			`	JNE	undo
	INCQ	const_countersAcquired(SI)(CX*1)
	SUBQ`,
		},
		{
			`	LOCK // harmless with plain counters: the stripe belongs to this P
	INCQ	const_countersReleased(SI)(CX*1) // (A5)
`,
			`	// (A5)
`,
		},
	}},
	{"assembly, A4: valid if it is live anywhere", "internal/refcount/read_amd64.s", []edit{
		{
			`	JNE	undo
`,
			`	JEQ	valid
	TESTQ	$const_statePhaseMask, const_countersState(SI)
	JNE	undo
valid:
`,
		},
	}},
	{"assembly, A5: undone without LOCK", "internal/refcount/read_amd64.s", []edit{
		{
			`	LOCK // harmless with plain counters: the stripe belongs to this P
`,
			``,
		},
	}},
	{"assembly, A5: undone on the stripe of another P", "internal/refcount/read_amd64.s", []edit{
		{
			`	LOCK // harmless with plain counters: the stripe belongs to this P
	INCQ	const_countersReleased(SI)(CX*1) // (A5)
`,
			`	MOVQ	$0, CX
	INCQ	const_countersReleased(SI)(CX*1) // (A5)
`,
		},
	}},
	{"assembly, R3: atomic counters without LOCK", "internal/refcount/read_amd64.s", []edit{
		{
			`	LOCK
	INCQ	const_countersReleased(SI)(CX*1)
	JMP	look`,
			`	INCQ	const_countersReleased(SI)(CX*1)
	JMP	look`,
		},
	}},
	{"assembly, R3: counted as acquired", "internal/refcount/read_amd64.s", []edit{
		{
			`	INCQ	const_countersReleased(SI)(CX*1) // (R3)`,
			`	INCQ	const_countersAcquired(SI)(CX*1) // (R3)`,
		},
	}},
	{"assembly, R4 before R3: the state is read before the count", "internal/refcount/read_amd64.s", []edit{
		{
			`	INCQ	const_countersReleased(SI)(CX*1) // (R3)
look:
	TESTQ	$const_statePhaseMask, const_countersState(SI) // (R4)
`,
			`	MOVQ	const_countersState(SI), DX
	INCQ	const_countersReleased(SI)(CX*1) // (R3)
look:
	TESTQ	$const_statePhaseMask, DX // (R4)
`,
		},
	}},
	{"assembly, R4: retiring passes for live", "internal/refcount/read_amd64.s", []edit{
		{
			`	TESTQ	$const_statePhaseMask, const_countersState(SI) // (R4)`,
			`	TESTQ	$2, const_countersState(SI) // (R4)`,
		},
	}},
	{"assembly, A1: one stripe for all acquires", "internal/refcount/read_amd64.s", []edit{
		{
			`	SHLQ	$const_countersShift, CX
	INCQ	const_countersAcquired(SI)(CX*1) // (A3)`,
			`	MOVQ	$0, CX
	INCQ	const_countersAcquired(SI)(CX*1) // (A3)`,
		},
	}},
	{"assembly, R2: one stripe for all releases", "internal/refcount/read_amd64.s", []edit{
		{
			`	SHLQ	$const_countersShift, CX
	INCQ	const_countersReleased(SI)(CX*1) // (R3)`,
			`	MOVQ	$0, CX
	INCQ	const_countersReleased(SI)(CX*1) // (R3)`,
		},
	}},
	{"assembly: plain counts whatever the counters are", "internal/refcount/read_amd64.s", []edit{
		{
			`	CMPQ	CX, const_countersPlain(SI)
	JCC	atomically
	SHLQ	$const_countersShift, CX
	INCQ	const_countersReleased`,
			`	SHLQ	$const_countersShift, CX
	INCQ	const_countersReleased`,
		},
	}},
	{"assembly: no overflow stripe for a late P", "internal/refcount/read_amd64.s", []edit{
		{
			`	CMOVQGT	tmp, k \
`,
			``,
		},
	}},
	{"assembly, A4: the jump is on the flags of the subtraction", "internal/refcount/read_amd64.s", []edit{
		{
			`	JNE	undo
	SUBQ	Slot_offset(AX), BX
`,
			`	SUBQ	Slot_offset(AX), BX
	JNE	undo
`,
		},
	}},
	{"assembly, A4: no re-validation after an atomic count", "internal/refcount/read_amd64.s", []edit{
		{
			`	JNE	undo
`,
			`	JNE	undo
valid:
`,
		},
		{
			`	JMP	validate`,
			`	JMP	valid`,
		},
	}},
	{"assembly, R4: no look after an atomic release", "internal/refcount/read_amd64.s", []edit{
		{
			`	INCQ	const_countersReleased(SI)(CX*1)
	JMP	look`,
			`	INCQ	const_countersReleased(SI)(CX*1)
	RET`,
		},
	}},
	{"assembly: failed is not nil on the way to the methods", "internal/refcount/read_amd64.s", []edit{
		{
			`on:
	MOVQ	$0, failed+8(FP)
`,
			`on:
`,
		},
	}},
	{"assembly: the methods release objects with their Ref last", "internal/refcount/read_amd64.s", []edit{
		{
			`	ADDQ	Slot_offset(AX), BX
`,
			``,
		},
	}},
	{"assembly, A1: from a copy", "internal/refcount/read_amd64.s", []edit{{`	JNE	on
	PNUMBER(CX)                             // (A1)`, `	PNUMBER(CX)                             // (A1)`}}},
	{"assembly, A2: from an empty container", "internal/refcount/read_amd64.s", []edit{{`	TESTQ	BX, BX
	JEQ	on
	MOVQ	Object_counters(BX), SI
	TESTQ	SI, SI`, `	MOVQ	Object_counters(BX), SI
	TESTQ	SI, SI`}}},
	{"assembly, A2: whose Ref was overwritten", "internal/refcount/read_amd64.s", []edit{{`	TESTQ	SI, SI // nil if the program overwrote the Ref
	JEQ	on
`, ``}}},
	{"assembly, R1: of a copy", "internal/refcount/read_amd64.s", []edit{{`	JNE	on
	MOVQ	obj+8(FP), BX`, `	MOVQ	obj+8(FP), BX`}}},
	{"assembly, R1: of nil", "internal/refcount/read_amd64.s", []edit{{`	TESTQ	BX, BX
	JEQ	on
	ADDQ`, `	ADDQ`}}},
	{"assembly, R1: of any pool", "internal/refcount/read_amd64.s", []edit{{`	CMPQ	DX, Object_pool(BX)
	JNE	on
`, ``}}},
	{"assembly: atomic acquires on the stripe of no P", "internal/refcount/read_amd64.s", []edit{{`	JCC	atomically
	SHLQ	$const_countersShift, CX
	INCQ	const_countersAcquired`, `	SHLQ	$const_countersShift, CX
	INCQ	const_countersAcquired`}}},
}
