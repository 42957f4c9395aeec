//go:build !unix

package runner

import (
	"syscall"
	"time"
)

// apart is nothing where there are no process groups.
var apart *syscall.SysProcAttr

// cpuTime is 0: there is no portable way to ask.
func cpuTime(bool) time.Duration { return 0 }
