//go:build unix

package main

import "syscall"

// maxFiles returns how many files this process may have open, and whether that is
// known.
func maxFiles() (int, bool) {
	var limit syscall.Rlimit
	err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit)
	return int(min(uint64(limit.Cur), 1<<30)), err == nil //nolint:gosec,unconvert // it is signed on some systems
}
