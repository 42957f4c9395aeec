//go:build unix

package session

import "syscall"

// apart keeps a child out of the process group of its parent: a Ctrl-C at the
// terminal is for the parent alone, even before the child could ignore it.
var apart = &syscall.SysProcAttr{Setpgid: true}
