//go:build linux && amd64 && !race && !purego && !poolswapsched

package refcount_test

import (
	"syscall"
	"testing"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/internal/test/machine"
	"github.com/poolswap/poolswap/internal/test/pooltest"
)

// TestTheFirstPoolAsksForMembarrier, in a child process, which has no pool yet.
// The kernel refuses the call to a process that did not register. That takes
// milliseconds, so the first Get must not be what does it.
func TestTheFirstPoolAsksForMembarrier(t *testing.T) {
	if pooltest.InChild() == "" {
		if output, err := pooltest.RunChild(t, "a process without a pool"); err != nil {
			t.Errorf("%v\n%s", err, output)
		}
		return
	}
	const membarrier, privateExpedited = 324, 1 << 3
	ask := func() error {
		if _, _, errno := syscall.Syscall(membarrier, privateExpedited, 0, 0); errno != 0 {
			return errno
		}
		return nil
	}
	newTablePool(poolswap.Options[table]{Portable: true})
	if err := ask(); err == syscall.ENOSYS {
		machine.Lacks(t, "this kernel has no membarrier")
	} else if err != syscall.EPERM {
		t.Errorf("a process whose pools are portable is registered: %v", err)
	}
	newTablePool(poolswap.Options[table]{})
	if err := ask(); err != nil {
		needAsymmetric(t) // asks as well, so not before
		t.Errorf("after the first pool: %v", err)
	}
}
