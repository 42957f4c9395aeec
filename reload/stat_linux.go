//go:build linux && (amd64 || arm64)

package reload

import (
	"io/fs"
	"syscall"
	"unsafe"
)

// pathStat asks for the state of a path, again and again, without allocating:
// os.Stat makes a FileInfo and a C string of the path each time.
type pathStat struct {
	name string
	path *byte // name, ended by a zero
	stat *syscall.Stat_t
	err  error // of a name that cannot be
}

func newPathStat(name string) pathStat {
	path, err := syscall.BytePtrFromString(name)
	return pathStat{name, path, new(syscall.Stat_t), err}
}

func (p *pathStat) state() (fileState, error) {
	errno := syscall.EINTR
	if p.err == nil {
		for errno == syscall.EINTR {
			// Sound: the kernel reads path to its zero, writes one Stat_t, and keeps
			// neither; Syscall6 keeps both alive.
			_, _, errno = syscall.Syscall6(sysFstatat, atFDCWD, uintptr(unsafe.Pointer(p.path)), uintptr(unsafe.Pointer(p.stat)), 0, 0, 0)
		}
		if errno == 0 {
			return stateOfStat(p.stat), nil
		}
		return fileState{}, &fs.PathError{Op: "stat", Path: p.name, Err: errno}
	}
	return fileState{}, &fs.PathError{Op: "stat", Path: p.name, Err: p.err}
}

const atFDCWD = ^uintptr(99) // AT_FDCWD, -100: a relative path begins where the process is
