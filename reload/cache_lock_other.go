//go:build !(darwin || dragonfly || freebsd || illumos || linux || netbsd || openbsd)

package reload

import (
	"errors"
	"os"
)

// lockFile locks nothing here.
func lockFile(*os.File) error { return errors.ErrUnsupported }
