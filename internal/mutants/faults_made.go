package main

// madeFaults are planted in how pools, containers, counters and Readers are made,
// and in a Reader. They break no step of the protocol.
var madeFaults = []fault{
	{"the offsets of the runtime are not compared", "internal/refcount/read_amd64.go", []edit{
		{
			`var useAsm = asmFinds(seam.ProcIDOffsets())`,
			`var _, _ = seam.ProcIDOffsets()

var useAsm = asmFinds(gM, mP)`,
		},
	}},
	{"a container shares a line with its neighbours", "container.go", []edit{
		{
			`	_ [256 - unsafe.Sizeof(refcount.Slot{}) - unsafe.Sizeof(uintptr(0))]byte
`,
			`	_ [0 * unsafe.Sizeof(refcount.Slot{})]byte
`,
		},
	}},
	{"readers and writers of a container share a line", "internal/refcount/slot.go", []edit{
		{
			`	_ [128 - 5*unsafe.Sizeof(uintptr(0))]byte
`,
			`	_ [0 * unsafe.Sizeof(uintptr(0))]byte
`,
		},
	}},
	{"twice as many stripes as Ps", "internal/seam/pin_proc.go", []edit{
		{
			`func Stripes() int { return max`,
			`func Stripes() int { return 2 * max`,
		},
	}},
	{"the first Get asks the kernel for membarrier", "internal/refcount/pool.go", []edit{
		{
			`	if !config.Portable {
		stripe.Asymmetric()`,
			`	if false {
		stripe.Asymmetric()`,
		},
	}},
	{"Leak: Report runs on the goroutine of the cleanups", "internal/refcount/cleanup.go", []edit{
		{
			`seam.Go(func() { p.Reports.Leak(held, holders) })`,
			`func() { p.Reports.Leak(held, holders) }()`,
		},
	}},
	{"Reader: Load acquires before it releases", "reader.go", []edit{
		{
			`	r.giveBack()
	if r.slot`,
			`	held := r.obj
	if r.slot`,
		},
		{
			`	r.held = engineObject(r.obj, r.slot.Offset())
`,
			`	r.held = engineObject(r.obj, r.slot.Offset())
	refcount.Release(r.slot, unsafe.Pointer(held))
`,
		},
	}},
}
