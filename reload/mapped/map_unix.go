//go:build unix && !aix && !solaris

package mapped

import (
	"os"
	"syscall"
)

func mapFile(file *os.File, size int) ([]byte, error) {
	data, err := syscall.Mmap(int(file.Fd()), 0, size, syscall.PROT_READ, syscall.MAP_SHARED)
	return data, os.NewSyscallError("mmap", err)
}

func unmapFile(data []byte) error { return os.NewSyscallError("munmap", syscall.Munmap(data)) }
