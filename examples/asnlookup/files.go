package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"strings"

	"github.com/poolswap/poolswap/reload"
)

// files is a reload.Source of the files of one table. Its Body has each of them
// in turn, after its length in eight bytes: a parser that knows where a file ends
// can say in which one a row is, and which one was cut short.
type files struct {
	paths   []string
	sources []reload.Source // one for each path
}

func newFiles(paths []string) *files {
	f := &files{paths: paths}
	for _, path := range paths {
		f.sources = append(f.sources, reload.File(path))
	}
	return f
}

// String returns the names of the files, for logs and the status page.
func (f *files) String() string { return strings.Join(f.paths, ", ") }

// Fetch implements reload.Source. The revision is new when that of any file is,
// and then all of them are read.
func (f *files) Fetch(ctx context.Context, have string) (_ *reload.Content, err error) {
	all, body := new(reload.Content), &filesBody{ctx: ctx}
	defer func() {
		if err != nil {
			body.Close()
		}
	}()
	var revisions []string
	var parts []io.Reader
	for _, source := range f.sources {
		content, err := source.Fetch(ctx, "")
		if err != nil {
			return nil, err
		}
		body.closers = append(body.closers, content.Body)
		length := binary.BigEndian.AppendUint64(nil, uint64(content.Size))
		parts = append(parts, bytes.NewReader(length), content.Body)
		revisions = append(revisions, content.Revision)
		all.Size += lengthSize + content.Size
		if content.Modified.After(all.Modified) {
			all.Modified = content.Modified
		}
	}
	all.Revision = strings.Join(revisions, " ")
	if all.Revision == have {
		return nil, reload.ErrNotModified
	}
	body.Reader, all.Body = io.MultiReader(parts...), body
	return all, nil
}

// lengthSize is how many bytes the length of a file takes.
const lengthSize = 8

// filesBody is the Body of files. It fails once ctx has ended, so that a shutdown
// does not wait for the rest of a large table.
type filesBody struct {
	io.Reader
	ctx     context.Context
	closers []io.Closer
}

func (b *filesBody) Read(buf []byte) (int, error) {
	if b.ctx.Err() != nil {
		return 0, context.Cause(b.ctx)
	}
	return b.Reader.Read(buf)
}

func (b *filesBody) Close() (err error) {
	for _, c := range b.closers {
		err = errors.Join(err, c.Close())
	}
	return err
}
