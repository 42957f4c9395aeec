// Command caller is compiled by TestGetAndPutInline, which reads its machine
// code. Each function is one round trip with its own kind of pool.
package main

import (
	"bytes"
	"os"
	"strconv"
	"sync"

	"github.com/poolswap/poolswap/typedpool"
)

var (
	untyped = &sync.Pool{New: func() any { return new(bytes.Buffer) }}
	typed   = typedpool.New(func() *bytes.Buffer { return new(bytes.Buffer) })
	zero    typedpool.Pool[[8 << 10]byte]
)

//go:noinline
func roundTripUntyped() { untyped.Put(untyped.Get().(*bytes.Buffer)) }

//go:noinline
func roundTripTyped() { typed.Put(typed.Get()) }

//go:noinline
func roundTripZero() { zero.Put(zero.Get()) }

// main makes as many round trips as its second argument says, so that the
// instructions of one can be counted from outside.
func main() {
	roundTrip := map[string]func(){
		"untyped": roundTripUntyped,
		"typed":   roundTripTyped,
		"zero":    roundTripZero,
	}[os.Args[1]]
	n, err := strconv.Atoi(os.Args[2])
	if err != nil {
		panic(err)
	}
	for range n {
		roundTrip()
	}
}
