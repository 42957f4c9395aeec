package results

import (
	"os"
	"path/filepath"
)

// Writable makes the folder if there is none, and returns an error if no file
// can be written to it: better before a long run than after it.
func Writable(folder string) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	f, err := os.CreateTemp(folder, ".writable-")
	if err != nil {
		return err
	}
	name := f.Name()
	if err := f.Close(); err != nil {
		return err
	}
	return os.Remove(name)
}

// WriteFile writes a file of the folder by way of another name, so that no
// half-written file is ever seen.
func WriteFile(folder, name string, content []byte) error {
	path := filepath.Join(folder, name)
	if err := os.WriteFile(path+".new", content, 0o644); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}
