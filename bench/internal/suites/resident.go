package suites

import (
	"fmt"
	"os"
	"sync"
	"time"
)

// resident watches how much memory the process has, where Linux tells it.
type resident struct {
	stop    chan struct{}
	ended   sync.WaitGroup
	seconds []float64 // the largest reading in each second
}

// watchResident begins to watch. Elsewhere than on Linux it watches nothing.
func watchResident(planned time.Duration) *resident {
	r := &resident{stop: make(chan struct{}), seconds: make([]float64, 0, int(planned.Seconds())+10)}
	start := time.Now()
	r.add(0)
	r.ended.Go(func() {
		ticks := time.NewTicker(time.Second / 10)
		defer ticks.Stop()
		for {
			select {
			case <-ticks.C:
				r.add(time.Since(start))
			case <-r.stop:
				return
			}
		}
	})
	return r
}

// add takes a reading.
func (r *resident) add(at time.Duration) {
	line, _ := os.ReadFile("/proc/self/statm")
	bytes, ok := parseStatm(string(line))
	if !ok {
		return
	}
	for len(r.seconds) <= int(at.Seconds()) {
		r.seconds = append(r.seconds, bytes)
	}
	last := &r.seconds[len(r.seconds)-1]
	*last = max(*last, bytes)
}

// parseStatm returns the second number, of pages in memory, in bytes: see
// proc_pid_statm(5).
func parseStatm(line string) (bytes float64, ok bool) {
	var size, pages int
	_, err := fmt.Sscanf(line, "%d %d ", &size, &pages)
	return float64(pages * os.Getpagesize()), err == nil
}

// end stops watching.
func (r *resident) end() {
	close(r.stop)
	r.ended.Wait()
}

// residentUnit is the unit of the memory in that second.
func residentUnit(second int) string { return fmt.Sprintf("rss-%02ds-bytes", second) }
