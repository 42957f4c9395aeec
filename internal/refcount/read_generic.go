//go:build !linux || !amd64 || purego || race || poolswapsched

package poolswap

import "unsafe"

// acquire and release are the methods: this build has no faster way.

const direct = false

func acquire(s *slot) (_ *Ref, obj unsafe.Pointer) { return nil, s.acquire() }

func release(s *slot, obj unsafe.Pointer) { s.pool.release(obj, s.offset) }
