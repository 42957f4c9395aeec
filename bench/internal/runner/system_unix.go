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
// collections included, or that its children had that have ended.
func cpuTime(ofChildren bool) (time.Duration, bool) {
	who := syscall.RUSAGE_SELF
	if ofChildren {
		who = syscall.RUSAGE_CHILDREN
	}
	var usage syscall.Rusage
	if err := syscall.Getrusage(who, &usage); err != nil {
		return 0, false
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano()), true
}
