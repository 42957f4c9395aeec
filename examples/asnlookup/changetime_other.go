//go:build !unix

package main

import "io/fs"

// changeTime returns 0: the platform has no such time, or does not give it.
func changeTime(fs.FileInfo) int64 { return 0 }
