package results

import (
	"bufio"
	"io"
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
	name, model := cpu()
	return Machine{
		CPU:      name,
		Model:    model,
		Cores:    runtime.NumCPU(),
		OS:       runtime.GOOS,
		Arch:     runtime.GOARCH,
		Go:       runtime.Version(),
		Counting: pool.Stats().Reads.Counting,
	}
}

// cpu returns the name of the processor, and what tells it from others of that
// name, as the system tells it. Virtual machines give one name to several
// generations.
func cpu() (name, model string) {
	if runtime.GOOS == "darwin" {
		if out, err := exec.Command("sysctl", "-n", "machdep.cpu.brand_string").Output(); err == nil {
			return strings.TrimSpace(string(out)), ""
		}
	}
	f, err := os.Open("/proc/cpuinfo")
	if err != nil {
		return "unknown " + runtime.GOARCH, ""
	}
	defer func() { _ = f.Close() }()
	return parseCPU(f)
}

// parseCPU reads what /proc/cpuinfo says of the first processor.
func parseCPU(info io.Reader) (name, model string) {
	values := make(map[string]string)
	for lines := bufio.NewScanner(info); lines.Scan() && lines.Text() != ""; {
		if key, value, ok := strings.Cut(lines.Text(), ":"); ok {
			values[strings.TrimSpace(key)] = strings.TrimSpace(value)
		}
	}
	if name = values["model name"]; name == "" {
		return "unknown " + runtime.GOARCH, ""
	}
	if family := values["cpu family"]; family != "" {
		model = "family " + family + " model " + values["model"] + " stepping " + values["stepping"]
	}
	return name, model
}
