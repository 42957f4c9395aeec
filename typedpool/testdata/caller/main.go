// Command caller is built by TestGetAndPutInline, which reads its machine code.
package main

import (
	"bytes"

	"github.com/poolswap/poolswap/typedpool"
)

var pool = typedpool.New(func() *bytes.Buffer { return new(bytes.Buffer) })

//go:noinline
func roundTrip() { pool.Put(pool.Get()) }

func main() { roundTrip() }
