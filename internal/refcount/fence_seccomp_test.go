//go:build linux && amd64 && !race && !purego && !poolswapsched

package refcount_test

import (
	"runtime"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/internal/stripe"
	"github.com/poolswap/poolswap/internal/test/machine"
	"github.com/poolswap/poolswap/internal/test/pooltest"
)

// TestMembarrierForbiddenByTheKernel runs in child processes under a seccomp
// filter that refuses membarrier, as some sandboxes do: from the start, or
// later. One that knows the command for a fence alone lets the process register.
func TestMembarrierForbiddenByTheKernel(t *testing.T) {
	switch pooltest.InChild() {
	case "from the start":
		forbidMembarrier(t, everyCommand)
		forbiddenFromTheStart(t)
		return
	case "the fence, from the start":
		forbidMembarrier(t, fenceAlone)
		forbiddenFromTheStart(t)
		return
	case "later":
		forbiddenLater(t)
		return
	}
	for _, when := range []string{"from the start", "the fence, from the start", "later"} {
		t.Run(when, func(t *testing.T) {
			output, err := pooltest.RunChild(t, when)
			if err != nil {
				t.Errorf("%v\n%s", err, output)
			}
			if strings.Contains(output, "--- SKIP") {
				machine.Lacks(t, output)
			}
		})
	}
}

// forbidMembarrier compares the command with these.
var (
	everyCommand = syscall.SockFilter{Code: syscall.BPF_JMP | syscall.BPF_JGE | syscall.BPF_K, Jt: 0, Jf: 1, K: 0}
	fenceAlone   = syscall.SockFilter{Code: syscall.BPF_JMP | syscall.BPF_JEQ | syscall.BPF_K, Jt: 0, Jf: 1, K: 1 << 3}
)

// forbidMembarrier makes membarrier return EPERM for those commands on all threads
// of this process, permanently.
func forbidMembarrier(t *testing.T, commands syscall.SockFilter) {
	const (
		membarrier        = 324 // system call number
		seccomp           = 317
		setNoNewPrivs     = 38 // prctl
		setModeFilter     = 1  // seccomp
		allThreads        = 1
		actionErrno       = 0x00050000
		actionAllow       = 0x7fff0000
		loadWord          = syscall.BPF_LD | syscall.BPF_W | syscall.BPF_ABS
		jumpIfEqual       = syscall.BPF_JMP | syscall.BPF_JEQ | syscall.BPF_K
		answer            = syscall.BPF_RET | syscall.BPF_K
		offsetOfTheNumber = 0 // in struct seccomp_data
		offsetOfTheFirst  = 16
	)
	program := []syscall.SockFilter{
		{Code: loadWord, K: offsetOfTheNumber},
		{Code: jumpIfEqual, Jt: 0, Jf: 3, K: membarrier},
		{Code: loadWord, K: offsetOfTheFirst}, // argument
		commands,
		{Code: answer, K: actionErrno | uint32(syscall.EPERM)},
		{Code: answer, K: actionAllow},
	}
	filter := syscall.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if _, _, errno := syscall.RawSyscall6(syscall.SYS_PRCTL, setNoNewPrivs, 1, 0, 0, 0, 0); errno != 0 {
		pooltest.Skip(t, "no_new_privs: ", errno)
	}
	if _, _, errno := syscall.RawSyscall(seccomp, setModeFilter, allThreads, uintptr(unsafe.Pointer(&filter))); errno != 0 {
		pooltest.Skip(t, "seccomp: ", errno)
	}
	runtime.KeepAlive(program)
}

func forbiddenFromTheStart(t *testing.T) {
	pool := newTablePool(poolswap.Options[table]{})
	c := poolswap.NewContainer(pool, &table{value: 1})
	drainByReader(c, 100)
	if s := pooltest.Settled(t, pool, 0); s.Reads.Counting != "portable" || s.Abandoned != 0 || s.Drained != 100 {
		t.Errorf("%+v", s)
	}
}

func forbiddenLater(t *testing.T) {
	needAsymmetric(t)
	var reports pooltest.Reports
	pool := newTablePool(poolswap.Options[table]{Report: reports.Report})
	c := poolswap.NewContainer(pool, &table{value: 1})
	c.Update(c.GetNew()) // the fence still works
	if s := pool.Stats(); s.Abandoned != 0 || s.Drained != 1 || s.Spares != 1 {
		t.Errorf("before: %+v", s)
	}
	forbidMembarrier(t, everyCommand)
	drainByReader(c, 100)
	s := pooltest.Settled(t, pool, 0)
	if s.Reads.Counting != "portable" || s.Abandoned != 2 || s.Retired != 0 || stripe.Asymmetric() {
		t.Errorf("after: %+v", s)
	}
	if text := reports.String(); strings.Count(text, syscall.EPERM.Error()) != 2 {
		t.Errorf("reported %q", text)
	}
}

// TestTheFirstPoolAsksForMembarrier, in a child process, which has no pool yet.
// The kernel refuses the call to a process that did not register. That takes
// milliseconds, so it must not be left to the first Get.
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
