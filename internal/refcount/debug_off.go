//go:build !poolswapdebug

package refcount

// debugBuild says whether this is a build with the tag poolswapdebug: reads go through the
// methods, and look for misuse that costs time to find.
const debugBuild = false
