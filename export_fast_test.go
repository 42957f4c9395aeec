//go:build linux && amd64 && !purego && !race && !poolswapsched

package poolswap

// WithoutAssembly makes reads of each container that is made before restore is
// called go through the methods.
func WithoutAssembly() (restore func()) {
	was := direct
	direct = false
	return func() { direct = was }
}

// HasAssembly reports whether reads go through the assembly.
func HasAssembly() bool { return direct }
