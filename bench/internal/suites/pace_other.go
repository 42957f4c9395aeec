//go:build !linux

package suites

import (
	"runtime"
	"time"
)

// pacer says when the next reads are due. It keeps a processor busy meanwhile: no
// portable call waits for so short a time.
type pacer struct {
	start    time.Time
	interval time.Duration
	told     int
}

// startPacer begins at once. Reads are due at start plus 1, 2, 3, ... intervals.
func startPacer(interval, delay time.Duration) (p *pacer, start time.Time, err error) {
	start = time.Now().Add(delay)
	return &pacer{start: start, interval: interval}, start, nil
}

// wait waits until at least one more read is due and returns how many are.
func (p *pacer) wait() (int, error) {
	for {
		if due := int(time.Since(p.start)/p.interval) - p.told; due > 0 {
			p.told += due
			return due, nil
		}
		runtime.Gosched()
	}
}

func (p *pacer) stop() {}
