//go:build linux && amd64 && !purego && !race && !poolswapsched

package poolswap

// WithoutAssembly makes every read go through the methods until restore is
// called. It must not be called while other goroutines read.
func WithoutAssembly() (restore func()) {
	was := direct
	direct = false
	return func() { direct = was }
}

// HasAssembly reports whether reads go through the assembly.
func HasAssembly() bool { return direct }
