//go:build !unix

package runner

import (
	"syscall"
	"time"
)

// apart is nothing where there are no process groups.
var apart *syscall.SysProcAttr

// cpuTime reports false: there is no portable way to ask.
func cpuTime(bool) (time.Duration, bool) { return 0, false }
