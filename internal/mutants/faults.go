package main

import "slices"

// fault is a small error planted in the source of the protocol: in file each
// old text, which must be there exactly once, becomes the new one.
type fault struct {
	name  string
	file  string
	edits []edit
}

type edit struct{ old, new string }

// faults are what every layer of tests is measured against.
var faults = slices.Concat(methodFaults, assemblyFaults)

// methodFaults are planted in the methods. The labels are those of the source;
// each step they change is there because of what happens without it.
var methodFaults = slices.Concat(readFaults, retireFaults, poolFaults)
