//go:build !poolswapsched && !purego && !race

package seam

import "syscall"

// CanCountPlain says whether this build may count with plain increments. That
// takes two things: stores become visible in program order and loads are not
// reordered with older loads (amd64), and one processor can make all others of
// the process execute a full fence (Linux's membarrier). A build with the race
// detector may not, because the detector does not see assembly.
const CanCountPlain = true

// From linux/membarrier.h; the call itself is in membarrier(2).
const (
	sysMembarrier            = 324
	cmdQuery                 = 0
	cmdPrivateExpedited      = 1 << 3
	cmdRegisterPrivateExpedi = 1 << 4
)

// RegisterMembarrier prepares the process for Membarrier. It can take tens of
// milliseconds in a process with many threads, so it is called once, when the
// first pool needs it.
func RegisterMembarrier() error {
	mask, _, errno := syscall.Syscall(sysMembarrier, cmdQuery, 0, 0)
	if errno != 0 {
		return errno
	}
	if mask&cmdPrivateExpedited == 0 {
		return ErrNoMembarrier
	}
	if _, _, errno := syscall.Syscall(sysMembarrier, cmdRegisterPrivateExpedi, 0, 0); errno != 0 {
		return errno
	}
	return Membarrier()
}

// Membarrier makes every processor that runs a thread of this process execute
// a full memory fence between the call and its return.
func Membarrier() error {
	if _, _, errno := syscall.Syscall(sysMembarrier, cmdPrivateExpedited, 0, 0); errno != 0 {
		return errno
	}
	return nil
}
