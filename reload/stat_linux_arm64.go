package reload

import "syscall"

const sysFstatat = syscall.SYS_FSTATAT
