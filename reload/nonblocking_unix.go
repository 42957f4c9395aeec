//go:build unix

package reload

import "syscall"

const nonBlocking = syscall.O_NONBLOCK
