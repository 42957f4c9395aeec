package typedpool

import "runtime"

// Debugging tells which build is under test.
const Debugging = debugging

// MinSweep is the number of claims below which the table is never swept.
const MinSweep = minSweep

// Claims returns the number of entries in the table of claims.
func Claims() int {
	claims.Lock()
	defer claims.Unlock()
	return len(claims.at)
}

// Here returns the place delta lines below its caller as a panic text shows it.
func Here(delta int) string {
	_, file, line, _ := runtime.Caller(1)
	return site(file, line+delta)
}
