package reload

import (
	"context"
	"fmt"
	"io/fs"
	"time"
)

// FS returns a Source that reads a file of fsys. Revisions are made of its size
// and modification time: an fs.FS says no more. For a file of the system, [File]
// sees more and gives Content.File.
func FS(fsys fs.FS, name string) Source { return &fsSource{fsys, name} }

type fsSource struct {
	fsys fs.FS
	name string
}

// String returns the file's name.
func (f *fsSource) String() string { return f.name }

// Fetch implements Source.
func (f *fsSource) Fetch(ctx context.Context, have string) (_ *Content, err error) {
	info, err := fs.Stat(f.fsys, f.name)
	if err != nil {
		return nil, err
	}
	if err := regular(f.name, info); err != nil {
		return nil, err
	}
	if fsRevision(info) == have {
		return nil, ErrNotModified
	}
	err = atRest(ctx, DefaultRest, func() (time.Time, error) {
		info, err := fs.Stat(f.fsys, f.name)
		if err != nil {
			return time.Time{}, err
		}
		return info.ModTime(), nil
	})
	if err != nil {
		return nil, err
	}
	file, err := f.fsys.Open(f.name)
	if err != nil {
		return nil, err
	}
	if info, err = file.Stat(); err != nil { // of the open file
		file.Close()
		return nil, err
	}
	revision := fsRevision(info)
	body := &steadyBody{Reader: file, Closer: file, size: info.Size(), same: func() (bool, error) {
		info, err := file.Stat()
		return err == nil && fsRevision(info) == revision, err
	}}
	return &Content{Revision: revision, Size: info.Size(), Modified: info.ModTime(), Body: body, Changed: body.changed}, nil
}

func fsRevision(info fs.FileInfo) string {
	return fmt.Sprintf("%x-%x", info.Size(), info.ModTime().UnixNano())
}
