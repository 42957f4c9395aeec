// Command go measures reads of a shared object that a writer replaces, in the
// ways of Go. `rivals WAY THREADS MILLISECONDS SWAPS` takes one sample and
// prints it in a line: the way, the number of reads, and pairs of value and
// unit. The programs in Rust and C take the same arguments and do the same work.
package main

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"time"

	"github.com/poolswap/poolswap/bench/internal/rivals"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		_, _ = fmt.Fprintf(os.Stderr, "rivals: %v; usage: rivals WAY THREADS MILLISECONDS SWAPS\n", err)
		os.Exit(2)
	}
}

// run takes the sample; it returns an error for wrong arguments.
func run(arguments []string, stdout io.Writer) error {
	if len(arguments) != 4 {
		return fmt.Errorf("%d arguments", len(arguments))
	}
	way := arguments[0]
	share, ok := rivals.Reads[way]
	if !ok {
		return fmt.Errorf("there is no way %q", way)
	}
	var numbers [3]int
	for i, least := range []int{1, 1, 0} {
		n, err := strconv.Atoi(arguments[1+i])
		if err != nil || n < least {
			return fmt.Errorf("%q is not a number from %d", arguments[1+i], least)
		}
		numbers[i] = n
	}
	sample := rivals.Read(share(), numbers[0], time.Duration(numbers[1])*time.Millisecond, numbers[2])
	_, _ = fmt.Fprintf(stdout, "%s %d", way, sample.Iterations)
	for _, unit := range []string{"ns/op", "cpu-ns/op", "swaps/s", "objects"} {
		if value, ok := sample.Values[unit]; ok {
			_, _ = fmt.Fprintf(stdout, " %.6f %s", value, unit)
		}
	}
	_, err := fmt.Fprintln(stdout)
	return err
}
