package suites

// publishedCell is the published time per operation in µs and the bytes
// allocated per operation.
type publishedCell struct{ us, bytes float64 }

// publishedTable is the table of the published library, by share of writes and
// memory limit, for the first rivals in their order: PoolSwap (the published
// one), AtomicPtr, MutexAlloc, MutexInPlace. Measured on an Apple M1 Pro with
// 10 cores, Go 1.25.1.
var publishedTable = map[int]map[int][4]publishedCell{
	1: {
		512: {{5.2, 276}, {9.2, 52_495}, {8.7, 52_489}, {18.0, 81}},
		256: {{5.2, 305}, {8.4, 52_490}, {8.3, 52_488}, {17.8, 77}},
		50:  {{6.6, 563}, {27.9, 52_515}, {25.6, 52_519}, {17.8, 79}},
	},
	10: {
		512: {{51.3, 2_880}, {105.9, 547_803}, {92.9, 541_441}, {198.9, 958}},
		256: {{49.6, 2_569}, {88.2, 543_597}, {88.5, 542_299}, {200.8, 943}},
		50:  {{67.4, 3_628}, {349.7, 586_419}, {295.5, 583_806}, {200.5, 963}},
	},
	50: {
		512: {{277, 13.4 * kib}, {570, 2.9 * mib}, {550, 2.9 * mib}, {1211, 6.2 * kib}},
		256: {{315, 16.4 * kib}, {496, 2.9 * mib}, {507, 2.9 * mib}, {1289, 6.0 * kib}},
		50:  {{336, 16.3 * kib}, {2997, 5.1 * mib}, {2789, 5.1 * mib}, {1092, 5.3 * kib}},
	},
}

const (
	kib = 1 << 10
	mib = 1 << 20
)

// publishedHotswap returns the published values of a rival, nil if it has none.
func publishedHotswap(percent, limit, rival int) map[string]float64 {
	cells := publishedTable[percent][limit]
	if rival >= len(cells) {
		return nil
	}
	return map[string]float64{"ns/op": 1000 * cells[rival].us, "B/op": cells[rival].bytes}
}
