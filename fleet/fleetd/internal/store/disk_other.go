//go:build !(darwin || linux)

package store

// diskFree knows nothing where the standard library cannot ask.
func diskFree(string) (free int64, known bool) { return 0, false }
