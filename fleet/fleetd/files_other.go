//go:build !unix

package main

// maxFiles returns how many files this process may have open, and whether that is
// known.
func maxFiles() (int, bool) { return 0, false }
