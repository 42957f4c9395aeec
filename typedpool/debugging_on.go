//go:build poolswapdebug

package typedpool

// debugging tells that this is the debug build.
const debugging = true
