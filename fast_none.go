//go:build !linux || !amd64 || purego || race || poolswapsched

package poolswap

import "unsafe"

// acquire and release are the methods: this build has no faster way.

func acquire(s *slot, offset uintptr, _ *Ref) unsafe.Pointer { return s.acquire(offset) }

func release(p *recycler, obj unsafe.Pointer, offset uintptr) { p.release(obj, offset) }
