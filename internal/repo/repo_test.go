// Package repo_test polices the repository: its imports and modules, the
// interface of its packages, their examples, the links of its pages, and the
// script that makes a release.
package repo_test

import (
	"os"
	"path/filepath"
	"testing"
)

const module = "github.com/poolswap/poolswap"

// top is the root of the repository.
const top = "../.."

// readsTheSource skips a test in builds that repeat others, which are tested
// with -short: the source is the same in each.
func readsTheSource(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("the source is the same in every build")
	}
}

func textOf(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(top, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
