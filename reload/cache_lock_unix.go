//go:build darwin || dragonfly || freebsd || illumos || linux || netbsd || openbsd

package reload

import (
	"errors"
	"os"
	"syscall"
)

// lockFile locks a file for this process, or returns errInUse.
func lockFile(file *os.File) error {
	conn, err := file.SyscallConn()
	if err != nil {
		return err
	}
	var lockErr error
	err = conn.Control(func(fd uintptr) { lockErr = syscall.Flock(int(fd), syscall.LOCK_EX|syscall.LOCK_NB) })
	if errors.Is(lockErr, syscall.EWOULDBLOCK) {
		return errInUse
	}
	return errors.Join(err, lockErr)
}
