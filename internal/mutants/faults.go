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
var methodFaults = slices.Concat(readFaults, retireFaults, poolFaults, publishFaults, waitFaults, spareFaults)

// unseen says of a fault why the scheduler cannot see it, although it builds the
// file. Another layer must.
var unseen = map[string]string{
	"V6: the turn is lost if fill calls Goexit": "the scheduler's threads are coroutines, which must not call Goexit",

	"spares: the limit never falls":                                  constantLimit,
	"spares: the limit falls, and what is too much stays":            constantLimit,
	"spares: a literal ends a fill that never began":                 constantLimit,
	"spares: an object that was collected is being filled for ever":  constantLimit,
	"spares: an object that was given back is being filled for ever": constantLimit,
}

const constantLimit = "the scheduler's scenarios set Options.Spares, and the limit does not bear on who owns an object"
