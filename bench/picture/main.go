// Command picture draws the README's picture of reads from the kept run of the
// suite scaling. It measures nothing: make picture does both.
package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/poolswap/poolswap/bench/internal/runner"
)

const (
	kept   = "results/scaling" // both below the folder of the module
	images = "../docs/images"
)

func main() {
	drawn, err := drawAll(kept)
	for name, picture := range drawn {
		err = errors.Join(err, runner.WriteFile(images, name, picture))
	}
	if err != nil {
		_, _ = fmt.Fprintln(os.Stderr, "picture:", err)
		os.Exit(1)
	}
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
