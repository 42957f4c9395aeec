//go:build !unix

package measure

import "time"

// cpuTime reports false: there is no portable way to ask.
func cpuTime() (time.Duration, bool) { return 0, false }
