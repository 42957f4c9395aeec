// Package buildflag tells tests how their binary was built. Only tests import
// it.
package buildflag

import (
	"runtime/debug"
	"slices"
	"strings"
)

// value returns a build setting, or "".
func value(key string) string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, setting := range info.Settings {
		if setting.Key == key {
			return setting.Value
		}
	}
	return ""
}

// Optimized reports whether the compiler optimized the binary. With
// -gcflags='all=-N -l' the runtime's own functions look different, and the
// assembly of the read path does not use them.
func Optimized() bool { return !strings.Contains(value("-gcflags"), "-N") }

// Race reports whether the race detector is in the binary.
func Race() bool { return value("-race") == "true" }

// ASan reports whether the address sanitizer is in the binary. It puts red zones
// around allocations, so sizes are not those of other builds.
func ASan() bool { return value("-asan") == "true" }

// Tag reports whether the binary was built with the tag.
func Tag(name string) bool { return slices.Contains(strings.Split(value("-tags"), ","), name) }
