//go:build poolswapsched && !amd64

package jitter

import (
	"bytes"
	"runtime"
)

// identity is the beginning of a goroutine's stack trace, such as "goroutine 7",
// which is unique in a process.
type identity string

// whoami returns the identity of the caller. It takes many times as long as a
// step of the protocol, and runs at every step.
func whoami() identity {
	var trace [40]byte
	name, _, _ := bytes.Cut(trace[:runtime.Stack(trace[:], false)], []byte(" ["))
	return identity(name)
}
