//go:build unix

package runner

import (
	"syscall"
	"time"
)

// apart keeps a child out of the process group of its parent: a Ctrl-C at the
// terminal is for the parent alone, even before the child could ignore it.
var apart = &syscall.SysProcAttr{Setpgid: true}

// cpuTime returns the processor time that the process has had, garbage
// collections included, with that of its children that have ended if wanted.
func cpuTime(children bool) time.Duration {
	var own, theirs syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &own)
	if children {
		_ = syscall.Getrusage(syscall.RUSAGE_CHILDREN, &theirs)
	}
	return time.Duration(own.Utime.Nano() + own.Stime.Nano() + theirs.Utime.Nano() + theirs.Stime.Nano())
}
