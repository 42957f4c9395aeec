package main

// assemblyFaults are planted in the assembly that stands for the methods. No
// build with a tag has it, so the scheduler does not see them: what it checks
// are the steps and their order, which the assembly shares with the methods.
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
	{"assembly: no overflow stripe for a late P", "internal/refcount/read_amd64.s", []edit{
		{
			`	CMOVQGT	tmp, k \
`,
			``,
		},
	}},
}
