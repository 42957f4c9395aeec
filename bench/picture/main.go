// Command picture draws the pictures of the documentation from kept runs: of reads from
// that of the suite scaling, and of deltas from that of fleetdelta. It measures nothing:
// make picture and make picture-deltas do both.
package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/poolswap/poolswap/bench/internal/runner"
)

const (
	kept   = "results" // both below the folder of the module
	images = "../docs/images"
)

// pictures are drawn from the run in the folder of their suite.
var pictures = []struct {
	name, suite string
	draw        func(run *runner.Run, t theme) ([]byte, error)
}{
	{"reads", "scaling", drawReads},
	{"deltas", "fleetdelta", drawDeltas},
}

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

// drawAll returns the pictures of the runs below that folder, by the names of their
// files.
func drawAll(from string) (map[string][]byte, error) {
	drawn := make(map[string][]byte)
	for _, p := range pictures {
		measured, err := runner.ReadKept(filepath.Join(from, p.suite))
		if err != nil {
			return nil, err
		}
		for _, t := range []theme{light, dark} {
			if drawn[p.name+"-"+t.name+".svg"], err = p.draw(measured, t); err != nil {
				return nil, fmt.Errorf("%s: %w", p.suite, err)
			}
		}
	}
	return drawn, nil
}
