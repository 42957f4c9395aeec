//go:build (amd64 || arm64) && !purego

package seam

// Goroutine returns a number for the calling goroutine, which no other goroutine has
// while this one lives: the address of its descriptor.
func Goroutine() uintptr
