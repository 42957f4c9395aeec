package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"
)

// progress is a line that shows how far the turns are. It is drawn over and over,
// so it needs a terminal, and does nothing elsewhere.
type progress struct {
	terminal    io.Writer // nil if there is none
	turn, turns int
	each        time.Duration // of a turn, with its warm-up
	stop        chan struct{}
	drawing     sync.WaitGroup
}

func newProgress(w io.Writer, turns int, each time.Duration) *progress {
	p := &progress{turns: turns, each: each + warmUp(each)}
	if file, ok := w.(*os.File); ok {
		if info, err := file.Stat(); err == nil && info.Mode()&os.ModeCharDevice != 0 {
			p.terminal = w
		}
	}
	return p
}

// begin shows a turn until end is called.
func (p *progress) begin(name string) {
	p.turn++
	if p.terminal == nil {
		return
	}
	p.stop = make(chan struct{})
	p.drawing.Go(func() {
		start := time.Now()
		ticks := time.NewTicker(100 * time.Millisecond)
		defer ticks.Stop()
		for {
			fmt.Fprintf(p.terminal, "%s\r", progressLine(name, p.turn, p.turns, p.each, time.Since(start)))
			select {
			case <-ticks.C:
			case <-p.stop:
				fmt.Fprintf(p.terminal, "%*s\r", lineWidth-1, "")
				return
			}
		}
	})
}

func (p *progress) end() {
	if p.terminal != nil {
		close(p.stop)
		p.drawing.Wait()
	}
}

// progressLine is always as long, so that it hides the one before, and the
// terminal's echo of Ctrl-C. It leaves the last column free, since some terminals go
// to the next line there.
func progressLine(name string, turn, turns int, each, elapsed time.Duration) string {
	const width = 24
	elapsed = min(elapsed, each)
	total := time.Duration(turns) * each
	done := time.Duration(turn-1)*each + elapsed
	bar := int(width * done / total)
	line := fmt.Sprintf("[%s%s]  %s (%d of %d), %.0f s left", strings.Repeat("#", bar), strings.Repeat(".", width-bar),
		name, turn, turns, (total - done).Seconds())
	return fmt.Sprintf("%-*s", lineWidth-1, line)
}
