//go:build !linux || !amd64 || purego || race || poolswapsched

package poolswap

// WithoutAssembly does nothing in this build.
func WithoutAssembly() (restore func()) { return func() {} }

// HasAssembly reports whether reads go through the assembly.
func HasAssembly() bool { return false }
