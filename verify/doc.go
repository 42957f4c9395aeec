// Package verify holds the tests of poolswap that need third-party libraries:
// a state machine over the whole public interface against a sequential model,
// the linearizability of recorded concurrent histories, fuzz targets over
// sequences of operations, and fault injection.
//
// It is a module of its own so that poolswap itself requires nothing. Nobody
// imports it, and it is never released. README.md tells what each test is for,
// how to run it, and which planted bugs it was seen to catch.
package verify
