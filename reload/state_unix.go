//go:build unix && !darwin && !freebsd && !netbsd

package reload

import (
	"io/fs"
	"syscall"
)

func stateOf(info fs.FileInfo) fileState { return stateOfStat(info.Sys().(*syscall.Stat_t)) }

func stateOfStat(s *syscall.Stat_t) fileState {
	return fileState{uint64(s.Dev), s.Ino, s.Size, s.Mtim.Nano(), s.Ctim.Nano(), uint64(s.Nlink)} //nolint:unconvert // Dev has other types elsewhere
}
