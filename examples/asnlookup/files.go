package main

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
)

// open opens a regular file and says what Stat found before that.
func open(path string) (*os.File, fs.FileInfo, error) {
	info, err := os.Stat(path) // first, because opening a named pipe can block
	switch {
	case err != nil:
		return nil, nil, err
	case !info.Mode().IsRegular():
		return nil, nil, fmt.Errorf("%s: not a regular file", path)
	}
	file, err := os.Open(path)
	return file, info, err
}

// contextReader fails once ctx has ended.
type contextReader struct {
	ctx  context.Context
	file io.Reader
}

func (r contextReader) Read(buf []byte) (int, error) {
	if r.ctx.Err() != nil {
		return 0, context.Cause(r.ctx)
	}
	return r.file.Read(buf)
}

// fileState identifies the content of some files without reading them: what
// Stat says of each, or nil for a file that is not there.
type fileState []fs.FileInfo

func stateOf(paths []string) fileState {
	s := make(fileState, len(paths))
	for i, path := range paths {
		s[i], _ = os.Stat(path)
	}
	return s
}

func (s fileState) equal(t fileState) bool { return slices.EqualFunc(s, t, unchanged) }

// unchanged reports whether two Stats found the same content. Size and
// modification time alone do not tell: package archives give all releases one
// date. So it compares the identity of the file, which a rename changes, and
// the change time of its inode, which programs cannot set.
func unchanged(a, b fs.FileInfo) bool {
	if a == nil || b == nil {
		return a == b
	}
	return os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime()) && changeTime(a) == changeTime(b)
}
