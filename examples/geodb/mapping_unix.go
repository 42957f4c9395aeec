//go:build unix && !aix && !solaris

package main

import (
	"os"
	"syscall"
)

func mapFile(file *os.File, size int64) (*mapping, error) {
	bytes, err := syscall.Mmap(int(file.Fd()), 0, int(size), syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		return nil, os.NewSyscallError("mmap", err)
	}
	return &mapping{bytes}, nil
}

func (m *mapping) close() error { return os.NewSyscallError("munmap", syscall.Munmap(m.bytes)) }
