package results

import (
	"bufio"
	"os"
	"os/exec"
	"runtime"
	"strings"

	"github.com/poolswap/poolswap"
)

// ThisMachine describes the machine that the process runs on.
func ThisMachine() Machine {
	type object struct{ poolswap.Ref }
	pool := poolswap.NewPool(func() *object { return new(object) }, nil)
	return Machine{
		CPU:      cpu(),
		Cores:    runtime.NumCPU(),
		OS:       runtime.GOOS,
		Arch:     runtime.GOARCH,
		Go:       runtime.Version(),
		Counting: pool.Stats().Counting,
	}
}

// cpu returns the name of the processor as the system tells it.
func cpu() string {
	if runtime.GOOS == "darwin" {
		if out, err := exec.Command("sysctl", "-n", "machdep.cpu.brand_string").Output(); err == nil {
			return strings.TrimSpace(string(out))
		}
	}
	if f, err := os.Open("/proc/cpuinfo"); err == nil {
		defer func() { _ = f.Close() }()
		for lines := bufio.NewScanner(f); lines.Scan(); {
			if key, value, ok := strings.Cut(lines.Text(), ":"); ok && strings.TrimSpace(key) == "model name" {
				return strings.TrimSpace(value)
			}
		}
	}
	return "unknown " + runtime.GOARCH
}
