package suites

import (
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/poolswap/poolswap/bench/internal/measure"
)

const residentPerSecond = 10

// resident watches how much memory the process has, where Linux tells it.
type resident struct {
	statm *os.File
	page  float64
	stop  chan struct{}
	ended sync.WaitGroup

	readings int
	sum      float64
	peak     float64
	seconds  []float64 // the largest reading in each second
}

// watchResident begins to watch. Elsewhere than on Linux it watches nothing.
func watchResident(planned time.Duration) *resident {
	r := &resident{page: float64(os.Getpagesize()), stop: make(chan struct{})}
	r.seconds = make([]float64, 0, int(planned.Seconds())+10) // so that watching allocates nothing
	var err error
	if r.statm, err = os.Open("/proc/self/statm"); err != nil {
		return r
	}
	start := time.Now()
	r.add(0)
	r.ended.Go(func() {
		ticks := time.NewTicker(time.Second / residentPerSecond)
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
	var line [128]byte
	n, _ := r.statm.ReadAt(line[:], 0) // it reports the end of the file
	bytes, ok := parseStatm(line[:n])
	if !ok {
		return
	}
	bytes *= r.page
	r.readings++
	r.sum += bytes
	r.peak = max(r.peak, bytes)
	for len(r.seconds) <= int(at.Seconds()) {
		r.seconds = append(r.seconds, bytes)
	}
	last := &r.seconds[len(r.seconds)-1]
	*last = max(*last, bytes)
}

// parseStatm returns the second number: pages in memory, see proc_pid_statm(5).
func parseStatm(line []byte) (pages float64, ok bool) {
	field := 0
	for _, b := range line {
		switch {
		case b == ' ':
			field++
		case b < '0' || b > '9':
			return 0, false
		case field == 1:
			pages, ok = 10*pages+float64(b-'0'), true
		}
		if field > 1 {
			return pages, ok
		}
	}
	return 0, false
}

// end stops watching and adds to the sample what was seen.
func (r *resident) end(sample *measure.Sample) {
	close(r.stop)
	r.ended.Wait()
	if r.statm != nil {
		_ = r.statm.Close()
	}
	if r.readings == 0 {
		return
	}
	sample.Values["rss-mean-bytes"] = r.sum / float64(r.readings)
	sample.Values["rss-peak-bytes"] = r.peak
	for second, bytes := range r.seconds {
		sample.Values[residentUnit(second)] = bytes
	}
}

// residentUnit is the unit of the memory in that second.
func residentUnit(second int) string { return fmt.Sprintf("rss-%02ds-bytes", second) }
