package suites

import (
	"encoding/binary"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// pacer says when the next reads are due. The timer wakes a goroutine as a request
// from the network does: by the runtime's poller. A time.Sleep would not, since it
// rounds up to a millisecond where a processor is idle.
type pacer struct {
	timer *os.File
	due   [8]byte
}

// startPacer begins at once. Reads are due at start plus 1, 2, 3, ... intervals.
func startPacer(interval, delay time.Duration) (p *pacer, start time.Time, err error) {
	fd, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC)
	if err != nil {
		return nil, start, os.NewSyscallError("timerfd_create", err)
	}
	p = &pacer{timer: os.NewFile(uintptr(fd), "timerfd")}
	start = time.Now().Add(delay)
	err = unix.TimerfdSettime(fd, 0, &unix.ItimerSpec{
		Interval: unix.NsecToTimespec(interval.Nanoseconds()), Value: unix.NsecToTimespec((delay + interval).Nanoseconds()),
	}, nil)
	return p, start, os.NewSyscallError("timerfd_settime", err)
}

// wait waits until at least one more read is due and returns how many are.
func (p *pacer) wait() (int, error) {
	if _, err := p.timer.Read(p.due[:]); err != nil {
		return 0, err
	}
	return int(binary.NativeEndian.Uint64(p.due[:])), nil //nolint:gosec // one for each interval
}

func (p *pacer) stop() { _ = p.timer.Close() }
