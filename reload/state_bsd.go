//go:build darwin || freebsd || netbsd

package reload

import (
	"io/fs"
	"syscall"
)

func stateOf(info fs.FileInfo) fileState {
	s := info.Sys().(*syscall.Stat_t)
	return fileState{uint64(s.Dev), s.Ino, s.Size, s.Mtimespec.Nano(), s.Ctimespec.Nano(), uint64(s.Nlink)} //nolint:unconvert // Dev has other types elsewhere
}
