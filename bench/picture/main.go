// Command picture draws the README's picture of reads from the kept run of the
// suite scaling. It measures nothing: make picture does both.
package main

import (
	"fmt"
	"os"

	"github.com/poolswap/poolswap/bench/internal/runner"
)

const (
	kept   = "results/scaling" // both below the folder of the module
	images = "../docs/images"
)

func main() {
	if err := run(kept, images); err != nil {
		_, _ = fmt.Fprintln(os.Stderr, "picture:", err)
		os.Exit(1)
	}
}

func run(from, to string) error {
	drawn, err := drawAll(from)
	if err != nil {
		return err
	}
	for name, picture := range drawn {
		if err := runner.WriteFile(to, name, picture); err != nil {
			return err
		}
	}
	return nil
}

// drawAll returns the pictures of the run in that folder, by the names of their
// files.
func drawAll(from string) (map[string][]byte, error) {
	measured, err := runner.ReadKept(from)
	if err != nil {
		return nil, err
	}
	drawn := make(map[string][]byte)
	for _, t := range []theme{light, dark} {
		if drawn["reads-"+t.name+".svg"], err = draw(measured, t); err != nil {
			return nil, fmt.Errorf("%s: %w", from, err)
		}
	}
	return drawn, nil
}
