//go:build !unix

package session

import "syscall"

// apart is nothing where there are no process groups.
var apart *syscall.SysProcAttr
