//go:build unix && !darwin && !freebsd && !netbsd

package main

import (
	"io/fs"
	"syscall"
)

// changeTime returns when the inode last changed, in nanoseconds of Unix time.
func changeTime(info fs.FileInfo) int64 { return info.Sys().(*syscall.Stat_t).Ctim.Nano() }
