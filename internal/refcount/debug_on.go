//go:build poolswapdebug

package refcount

import "github.com/poolswap/poolswap/internal/seam"

// debugBuild says whether this is a build with the tag poolswapdebug: reads go through the
// methods, and look for misuse that costs time to find.
const debugBuild = true

// Goroutine returns a number for the calling goroutine.
func Goroutine() uintptr { return seam.Goroutine() }
