package results

import (
	"os"
	"strconv"
	"strings"
)

// WatchOthers begins to watch what share of the processors' time does not go to
// this process and its children. The function that it returns returns the share,
// or -1 where the system does not tell.
func WatchOthers() (share func() float64) {
	before, ok := readTicks()
	return func() float64 {
		now, okNow := readTicks()
		if !ok || !okNow || now.all <= before.all {
			return -1
		}
		all, busy, own := now.all-before.all, now.busy-before.busy, now.own-before.own
		return max(0, busy-own) / all
	}
}

// ticks are times of the processors, all in the same unit.
type ticks struct{ all, busy, own float64 }

// readTicks reads those of Linux.
func readTicks() (t ticks, ok bool) {
	machine, err := os.ReadFile("/proc/stat")
	if err != nil {
		return t, false
	}
	self, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		return t, false
	}
	return parseTicks(string(machine), string(self))
}

// parseTicks reads the first line of /proc/stat and /proc/self/stat: see
// proc_stat(5) and proc_pid_stat(5).
func parseTicks(machine, self string) (t ticks, ok bool) {
	line, _, _ := strings.Cut(machine, "\n")
	// cpu user nice system idle iowait irq softirq steal; what guests had is in
	// user already.
	fields := strings.Fields(line)
	if len(fields) < 9 || fields[0] != "cpu" {
		return t, false
	}
	for i, field := range fields[1:9] {
		n, err := strconv.ParseFloat(field, 64)
		if err != nil {
			return t, false
		}
		t.all += n
		if i != 3 && i != 4 { // idle, iowait
			t.busy += n
		}
	}
	// What follows the name, which is in parentheses and may hold anything,
	// begins with the third field; utime, stime, cutime and cstime are 14 to 17.
	fields = strings.Fields(self[strings.LastIndexByte(self, ')')+1:])
	if len(fields) < 15 {
		return t, false
	}
	for _, field := range fields[11:15] {
		n, err := strconv.ParseFloat(field, 64)
		if err != nil {
			return t, false
		}
		t.own += n
	}
	return t, true
}
