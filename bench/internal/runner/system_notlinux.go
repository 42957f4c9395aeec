//go:build !linux

package runner

import (
	"syscall"
	"time"
)

// WithParent is nothing where the system does not offer it.
var WithParent *syscall.SysProcAttr

// ProcessorTime reports false: no portable call tells.
func ProcessorTime(int) (time.Duration, bool) { return 0, false }

// PeakMemory reports false: no portable call tells.
func PeakMemory(int) (bytes float64, ok bool) { return 0, false }
