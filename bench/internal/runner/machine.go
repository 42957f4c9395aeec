package runner

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"

	"github.com/poolswap/poolswap"
)

// Machine is where a run took place.
type Machine struct {
	CPU      string
	Model    string // tells processors of one name apart: family, model, stepping
	Cores    int
	OS       string
	Arch     string
	Go       string
	Counting string // how poolswap counts there
}

// Name is the name of the processor, with its model where others have that name too.
func (m *Machine) Name() string {
	if m.Model == "" {
		return m.CPU
	}
	return m.CPU + " (" + m.Model + ")"
}

// Slug is the name of the processor as the name of a folder.
func (m *Machine) Slug() string {
	words := strings.FieldsFunc(strings.ToLower(m.CPU+" "+m.Model), func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9')
	})
	return strings.Join(words, "-")
}

// ThisMachine describes the machine that the process runs on.
func ThisMachine() Machine {
	type object struct{ poolswap.Ref }
	counting := poolswap.NewPool(func() *object { return new(object) }, nil).Stats().Reads.Counting
	m := Machine{"unknown " + runtime.GOARCH, "", runtime.NumCPU(), runtime.GOOS, runtime.GOARCH, runtime.Version(), counting}
	if out, err := exec.Command("sysctl", "-n", "machdep.cpu.brand_string").Output(); err == nil && m.OS == "darwin" {
		m.CPU = strings.TrimSpace(string(out))
	}
	info, _ := os.ReadFile("/proc/cpuinfo")
	m.readCPU(string(info))
	return m
}

// readCPU reads the description of the first processor in /proc/cpuinfo.
func (m *Machine) readCPU(info string) {
	values := make(map[string]string)
	first, _, _ := strings.Cut(info, "\n\n")
	for line := range strings.Lines(first) {
		key, value, _ := strings.Cut(line, ":")
		values[strings.TrimSpace(key)] = strings.TrimSpace(value)
	}
	if name := values["model name"]; name != "" {
		m.CPU = name
	}
	if family := values["cpu family"]; family != "" {
		m.Model = "family " + family + " model " + values["model"] + " stepping " + values["stepping"]
	}
}

// WatchOthers begins to watch the share of the processors' time that does not go
// to this process and its children. The function that it returns returns the share,
// or -1 where the system does not tell.
func WatchOthers() (share func() float64) {
	busyBefore, allBefore := readTicks()
	ownBefore := cpuTime(true)
	return func() float64 {
		busy, all := readTicks()
		if all <= allBefore {
			return -1
		}
		return max(0, float64(busy-busyBefore-(cpuTime(true)-ownBefore))/float64(all-allBefore))
	}
}

// readTicks returns the busy time of the processors, and all of it, 0 where the
// system does not tell.
func readTicks() (busy, all time.Duration) {
	text, _ := os.ReadFile("/proc/stat")
	return parseTicks(string(text))
}

// parseTicks reads the first line of /proc/stat: see proc_stat(5).
func parseTicks(text string) (busy, all time.Duration) {
	const tick = 10 * time.Millisecond
	// The time of guests, which follows, is in user already.
	var user, nice, system, idle, iowait, irq, softirq, steal int
	if _, err := fmt.Sscanf(text, "cpu %d %d %d %d %d %d %d %d", &user, &nice, &system, &idle, &iowait, &irq, &softirq, &steal); err != nil {
		return 0, 0
	}
	n := user + nice + system + irq + softirq + steal
	return time.Duration(n) * tick, time.Duration(n+idle+iowait) * tick
}
