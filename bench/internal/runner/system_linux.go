package runner

import (
	"bytes"
	"fmt"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// WithParent ends a process when the one that started it ends.
var WithParent = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}

// ProcessorTime returns the processor time that a process has had.
func ProcessorTime(pid int) (time.Duration, bool) {
	var t unix.Timespec
	// The clock of a process: see clock_getcpuclockid(3).
	if err := unix.ClockGettime(int32(^pid)<<3|2, &t); err != nil { //nolint:gosec // no pid has more than 22 bits
		return 0, false
	}
	return time.Duration(t.Nano()), true
}

// PeakMemory returns the most memory that a process has had since its start.
func PeakMemory(pid int) (peak float64, ok bool) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, false
	}
	_, rest, _ := bytes.Cut(status, []byte("VmHWM:"))
	_, err = fmt.Sscan(string(rest), &peak)
	return 1024 * peak, err == nil
}
