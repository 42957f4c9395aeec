//go:build poolswapsched

// Package jitter widens the windows of the protocol for real goroutines. It is a
// Machine behind the seam with its own processors. Pin reserves one of them for
// the caller, but pins nothing in the runtime, so a goroutine may pause anywhere
// and others overtake it. Plain increments wait in the store buffer of their
// processor until they must be visible, as on x86-TSO, or are flushed at random.
//
// Unlike package sched it explores nothing and cannot repeat a run, but it runs
// any number of goroutines for any time.
package jitter
