//go:build !(amd64 || arm64) || purego

package seam

import "runtime"

// Goroutine returns a number for the calling goroutine, which no other goroutine has
// while this one lives. It is read from a stack trace, "goroutine 7 [", which takes
// some microseconds.
func Goroutine() (id uintptr) {
	var trace [40]byte
	n := runtime.Stack(trace[:], false)
	for _, c := range trace[min(n, len("goroutine ")):n] {
		if c < '0' || c > '9' {
			break
		}
		id = 10*id + uintptr(c-'0')
	}
	return id
}
