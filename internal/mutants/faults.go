package main

import (
	"regexp"
	"slices"
	"strings"
)

// fault is a small error planted in the source of the protocol: in file each
// old text, which must be there exactly once, becomes the new one.
type fault struct {
	name  string // the labels of the steps that it breaks, if any, a colon, and how
	file  string
	edits []edit
}

type edit struct{ old, new string }

// faults measure every layer of tests.
var faults = slices.Concat(methodFaults, assemblyFaults, madeFaults, leafFaults)

// methodFaults are planted in the methods. The labels are those of the source;
// each step they change is there because leaving it out breaks something.
var methodFaults = slices.Concat(readFaults, retireFaults, poolFaults, publishFaults, waitFaults, spareFaults, traceFaults, clauseFaults, unitFaults)

// labelForm matches the label of a step in the name of a fault.
var labelForm = regexp.MustCompile(`\b[A-Z][0-9]\b`)

// isUnseen reports whether the scheduler cannot see the fault.
func (f fault) isUnseen() bool {
	return unseen[f.name] != "" || slices.ContainsFunc(unitFaults, func(other fault) bool { return other.name == f.name })
}

// labels returns the labels of the steps that the fault breaks.
func (f fault) labels() []string {
	steps, _, _ := strings.Cut(f.name, ":")
	return labelForm.FindAllString(steps, -1)
}

// unseen says of a fault why the scheduler cannot see it, although it builds the
// file. Another layer must. The unitFaults have one reason for all.
var unseen = map[string]string{
	"V6: the turn is lost if fill calls Goexit": "the scheduler's threads are coroutines, which must not call Goexit",

	"K2: an object to be discarded goes to the overflow":               "the spares of a scenario suffice, so nothing comes to the overflow",
	"K3 after Discard: discarded when Discard has returned":            "no Discard of a scenario brings its object back",
	"K3: what leaves again in its Discard loses its mark":              "no Discard of a scenario brings its object back",
	"N3: back in the generation in which it was discarded":             "no fill of a scenario gives its object away",
	"D3: Close waits for an object of another container":               "no scenario holds what was current in one container while another closes",
	"L4: live, as if its Ref were whole":                               "no scenario overwrites a Ref",
	"D4: Get returns an object of a pool that closed during its reset": "no Get of a scenario resets an object while the pool closes",
	"D4: Get keeps an object of a pool that closed during its reset":   "no Get of a scenario resets an object while the pool closes",
	"L2: what waits for room is not woken by an object that is lost":   "no scenario loses an object while a Publish waits at the limit",
	"the sweeper goes on when Report has returned":                     "no hook of a scenario panics on the sweeper",
	"the sweeper goes on when Report has ended":                        "no hook of a scenario panics on the sweeper",

	"X1: no publication looks whether it is to be traced": "to a scenario nothing need be traced",
	"X5: never back to the assembly":                      "reads are slow, and as right",

	"a container shares a line with its neighbours":   "it has no cache lines",
	"readers and writers of a container share a line": "it has no cache lines",
	"the first Get asks the kernel for membarrier":    "a Machine has no kernel",
	"Reader: Load acquires before it releases":        "a Reader may hold two objects for a moment, but not promise one",

	"W2: a Wait that ends leaves its signal":                              "under a Machine no ctx ends",
	"W2: Drain and Close leave their signal":                              "under a Machine no ctx ends",
	"W2: a Wait that ends wakes the channels of Changed":                  "under a Machine no ctx ends",
	"W2: a signal is taken away, and others that wait for it stay asleep": "under a Machine no ctx ends",
	"Leak: Report runs on the goroutine of the cleanups":                  "a Machine has no garbage collection",

	"spares: the limit never falls":                      "the limit does not bear on who owns an object",
	"spares: an object that was collected stays private": "a Machine has no garbage collection",
}
