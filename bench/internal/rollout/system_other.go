//go:build !linux

package rollout

import (
	"syscall"
	"time"
)

var withParent *syscall.SysProcAttr

// The tables leave out what no portable call tells.

func processorTime(int) (time.Duration, bool) { return 0, false }

func peakMemory(int) (bytes float64, ok bool) { return 0, false }
