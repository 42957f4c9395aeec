package oldpool

import _ "unsafe" // for go:linkname

// pin keeps the calling goroutine on its P, which no other goroutine runs on meanwhile, and
// returns the number of the P. sync.Pool is built on the same two functions.
//
//go:linkname pin runtime.procPin
func pin() int

//go:linkname unpin runtime.procUnpin
func unpin()
