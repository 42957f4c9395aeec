//go:build darwin || linux

package store

import "syscall"

// diskFree returns the bytes that this user may still write in a directory.
func diskFree(dir string) (free int64, known bool) {
	var s syscall.Statfs_t
	if syscall.Statfs(dir, &s) != nil {
		return 0, false
	}
	return int64(s.Bavail) * int64(s.Bsize), true //nolint:gosec,unconvert // the types differ by system
}
