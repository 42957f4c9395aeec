package main

import (
	"bufio"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
)

// catchesFile says which test caught each fault when -record was last given. That
// test alone is tried first, which takes a moment where the whole layer takes
// seconds. It is only a hint: if the test misses the fault, the layers are run as
// if there were no hint.
const catchesFile = "internal/mutants/catches.txt"

// catch is where a fault was caught.
type catch struct{ layer, dir, test string }

// readCatches returns the recorded catches by the names of the faults.
func readCatches() (map[string]catch, error) {
	file, err := os.Open(catchesFile)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	catches := make(map[string]catch)
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		part := strings.Split(lines.Text(), "\t")
		if len(part) != 4 {
			return nil, fmt.Errorf("%s: %q is not a fault, a layer, a directory and a test", catchesFile, lines.Text())
		}
		catches[part[0]] = catch{part[1], part[2], part[3]}
	}
	return catches, lines.Err()
}

// writeCatches records the catches of the faults that there are.
func writeCatches(catches map[string]catch) error {
	var text strings.Builder
	for _, name := range slices.Sorted(maps.Keys(catches)) {
		if slices.ContainsFunc(faults, func(f fault) bool { return f.name == name }) {
			c := catches[name]
			fmt.Fprintf(&text, "%s\t%s\t%s\t%s\n", name, c.layer, c.dir, c.test)
		}
	}
	return os.WriteFile(catchesFile, []byte(text.String()), 0o644)
}
