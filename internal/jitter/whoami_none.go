//go:build poolswapsched && !amd64

package jitter

import (
	"bytes"
	"runtime"
)

// identity tells goroutines apart: the text that a stack trace begins with,
// "goroutine 7", of which there is no second in a process.
type identity string

// whoami returns the identity of the caller. It takes many times as long as a
// step of the protocol, on every step.
func whoami() identity {
	var trace [40]byte
	name, _, _ := bytes.Cut(trace[:runtime.Stack(trace[:], false)], []byte(" ["))
	return identity(name)
}
