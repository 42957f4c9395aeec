//go:build !poolswapdebug

package typedpool

// debugging is false in an ordinary build: the code behind it is compiled, so that it
// cannot rot, and then left out.
const debugging = false
