package slab

import (
	"syscall"
	"unsafe"
)

// hugeFrom is the size from which memory is to be in huge pages.
const hugeFrom = 4 << 20

// inHugePages asks for huge pages for a new slice, and returns it. Many systems give them
// on request alone. Lookups read here and there: with small pages, those of a table that
// is larger than the caches wait for the page table, too, a tenth to a quarter of their time.
func inHugePages[E any](s []E) []E {
	n := uintptr(cap(s)) * unsafe.Sizeof(*new(E))
	if n < hugeFrom {
		return s
	}
	begin, page := unsafe.Pointer(unsafe.SliceData(s)), uintptr(syscall.Getpagesize()) //nolint:gosec // it is positive
	skip := -uintptr(begin) % page
	whole := unsafe.Slice((*byte)(unsafe.Add(begin, skip)), (n-skip)/page*page)
	_ = syscall.Madvise(whole, syscall.MADV_HUGEPAGE) // without them it is right, too
	return s
}
