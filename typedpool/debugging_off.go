//go:build !poolswapdebug

package typedpool

// debugging tells that this is an ordinary build: what it guards is compiled,
// so that it cannot rot, and then left out.
const debugging = false
