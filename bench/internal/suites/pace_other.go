//go:build !linux

package suites

import (
	"errors"
	"time"
)

// pacer is not there: no portable call waits for so short a time.
type pacer struct{}

func startPacer(time.Duration, time.Duration) (*pacer, time.Time, error) {
	return nil, time.Time{}, errors.New("the suite steady needs Linux")
}

func (*pacer) wait() (int, error) { return 0, nil }
func (*pacer) stop()              {}
