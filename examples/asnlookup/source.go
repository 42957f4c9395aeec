package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
)

// source is where tables come from.
type source interface {
	// fill reads the whole table into t, which is empty. When it fails, t is
	// good for nothing but the pool. It is for one goroutine at a time.
	fill(p *parser, t *table) error

	// version tells one version of the source from another.
	version() version
}

// version is what is looked at to see whether the files of a source changed:
// one stamp for each.
type version []stamp

// stamp is the state of a file; of one that cannot be read it is zero.
type stamp struct {
	changed int64 // nanoseconds of Unix time
	size    int64
}

func stampOf(info fs.FileInfo) stamp { return stamp{info.ModTime().UnixNano(), info.Size()} }

func (v version) equal(w version) bool { return slices.Equal(v, w) }

// files is a source of CSV files, which make one table together.
type files []string

// maxFiles is how many bytes all files of a table may have. It bounds the
// memory of a table, and keeps every offset in it within 32 bits.
const maxFiles = 1 << 30

var (
	errNotFile = errors.New("it is not a regular file")
	errTooBig  = fmt.Errorf("the table is larger than %d MiB", maxFiles>>20)
	errChanged = errors.New("the file changed while it was read")
)

func (f files) fill(p *parser, t *table) error {
	left := int64(maxFiles)
	for _, path := range f {
		size, err := readFile(path, left, func(file io.Reader) error { return p.read(t, path, file) })
		if err != nil {
			return err
		}
		left -= size
	}
	return nil
}

// readFile calls read with the content of a file of at most that many bytes,
// which must not change meanwhile, and returns its size.
func readFile(path string, most int64, read func(io.Reader) error) (int64, error) {
	before, err := os.Stat(path)
	switch {
	case err != nil:
		return 0, err
	case !before.Mode().IsRegular():
		return 0, &lineError{path, 0, errNotFile}
	case before.Size() > most:
		return 0, &lineError{path, 0, errTooBig}
	}
	file, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer file.Close()
	readErr := read(file)
	after, err := file.Stat()
	switch {
	case err != nil:
		return 0, err
	case !os.SameFile(before, after) || stampOf(before) != stampOf(after):
		return 0, &lineError{path, 0, errChanged} // and whatever else is wrong with it is no news
	}
	return before.Size(), readErr
}

func (f files) version() version {
	v := make(version, len(f))
	for i, path := range f {
		if info, err := os.Stat(path); err == nil {
			v[i] = stampOf(info)
		}
	}
	return v
}
