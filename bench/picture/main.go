// Command picture draws the README's picture of reads from the kept run of the
// suite scaling. It measures nothing: make picture does both.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/poolswap/poolswap/bench/internal/results"
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
		if err := results.WriteFile(to, name, picture); err != nil {
			return err
		}
	}
	return nil
}

// drawAll returns the pictures of the run in that folder, by the names of their
// files.
func drawAll(from string) (map[string][]byte, error) {
	measured, err := readKept(from)
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

func readKept(folder string) (*results.Run, error) {
	raw, err := os.Open(filepath.Join(folder, results.File))
	if err != nil {
		return nil, err
	}
	defer func() { _ = raw.Close() }()
	return results.ReadText(raw, raw.Name())
}
