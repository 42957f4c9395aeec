//go:build unix

package measure

import (
	"syscall"
	"time"
)

// cpuTime returns the processor time that the process has had, garbage
// collections included.
func cpuTime() (time.Duration, bool) {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0, false
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano()), true
}
