//go:build linux && amd64 && !poolswapdebug

package slab_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"unsafe"

	"github.com/poolswap/poolswap/slab"
)

// isHuge reports whether huge pages were asked for the memory of s. known is false where
// the system does not tell.
func isHuge(t *testing.T, s string) (huge, known bool) {
	t.Helper()
	text, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		return false, false
	}
	at := uintptr(unsafe.Pointer(unsafe.StringData(s)))
	inside := false
	for line := range strings.Lines(string(text)) {
		var from, to uintptr
		if n, _ := fmt.Sscanf(line, "%x-%x ", &from, &to); n == 2 {
			inside = from <= at && at < to
		}
		if flags, ok := strings.CutPrefix(line, "VmFlags:"); ok && inside {
			return strings.Contains(flags+" ", " hg "), true
		}
	}
	return false, false
}

func TestLargeTextIsInHugePages(t *testing.T) {
	if _, err := os.Stat("/sys/kernel/mm/transparent_hugepage"); err != nil {
		t.Skip("this system has no huge pages")
	}
	var m slab.Strings
	m.Set("before", strings.Repeat("v", 5<<20))
	m.Set("key", "value")
	value, _ := m.Get("key")
	huge, known := isHuge(t, value)
	if !known {
		t.Skip("this system does not tell")
	}
	if !huge {
		t.Error("no huge pages were asked for")
	}
}
