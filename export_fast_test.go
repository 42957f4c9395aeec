//go:build linux && amd64 && !purego && !race && !poolswapsched

package poolswap

// WithoutAssembly makes every read go through the methods until restore is
// called. It must not be called while other goroutines read.
func WithoutAssembly() (restore func()) {
	was := mOffset
	mOffset = 0
	return func() { mOffset = was }
}

// HasAssembly reports whether reads go through the assembly.
func HasAssembly() bool { return mOffset != 0 }
