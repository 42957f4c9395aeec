// Package verify holds the tests of poolswap that need third-party libraries:
// a state machine over the whole public interface against a sequential model,
// the linearizability of recorded concurrent histories, and fuzz targets over
// sequences of operations.
//
// It is its own module so that poolswap requires no other module. It is never
// imported or released. README.md says what each test checks and how to run it.
package verify
