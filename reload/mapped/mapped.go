// Package mapped keeps a file in memory for package reload: mapped, read only, and
// unmapped when its last reader has let go.
//
//	pool := mapped.NewPool[*Index](report)
//	indexes := poolswap.NewEmptyContainer(pool)
//	source := reload.Cache(reload.File(name), dir)
//	reloader := reload.New(indexes, source, mapped.Load(parse), reload.Options{Stats: pool.Stats})
//
// Put a [reload.Cache] around the source, with a directory where no other program can
// write, so that its copy is mapped. A file that is written to in place changes under
// its readers, and one that is cut off in place kills the process with SIGBUS. No check
// sees later changes, and the last one comes after load: load must look out for
// offsets that point beyond the file.
//
// On Windows, Solaris, AIX, Plan 9 and WebAssembly the file is read into memory
// instead.
package mapped

import (
	"context"
	"errors"
	"fmt"
	"runtime"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/reload"
)

// File is a mapped file, the object of a pool that [NewPool] made. [Load] maps it, or a
// load of the caller that calls Map and sets Value. Readers use Value between Acquire
// and Release: the memory is gone after that, and an access ends the process, so they
// copy what they keep.
//
// A File must not be copied. Any number of goroutines can read it.
type File[T any] struct {
	poolswap.Ref

	// Value is made from the bytes of the file by load: an index, a reader of a
	// database, or the bytes themselves. It may point into them. Nothing closes it.
	Value T

	data    []byte
	cleanup runtime.Cleanup
}

// NewPool returns a pool for files. It keeps no spares, and unmaps a file when its
// last reader has released it, or when load has returned an error. A file whose
// Release was forgotten is unmapped when the garbage collector takes the File.
//
// report is Options.Report of the pool, and gets errors of unmapping, too. It may be
// nil.
func NewPool[T any](report func(error)) *poolswap.Pool[File[T], *File[T]] {
	return poolswap.NewPoolWithOptions(
		func() *File[T] { return new(File[T]) },
		nil,
		poolswap.Options[File[T]]{
			Spares: poolswap.NoSpares,
			Discard: func(f *File[T]) {
				if err := f.unmap(); err != nil && report != nil {
					report(err)
				}
			},
			Report: report,
		})
}

// Load returns a load for [reload.New] that maps the file of content, and sets Value to
// the T that parse makes from the bytes. An error of parse refuses the content. The bytes are
// those of Map. For a load that compares with the current File, or takes the parts of a
// [reload.Join], call Map. Load panics if parse is nil.
func Load[T any](parse func(ctx context.Context, data []byte) (T, error)) func(ctx context.Context, next, current *File[T], content *reload.Content) error {
	if parse == nil {
		panic("mapped: Load with a nil parse")
	}
	return func(ctx context.Context, next, _ *File[T], content *reload.Content) error {
		data, err := next.Map(content)
		if err != nil {
			return err
		}
		next.Value, err = parse(ctx, data)
		return err
	}
}

// Map maps the file of content, which is not empty, and returns its bytes, for load: to
// check them, and to make Value from them. They stay until the pool unmaps them, and
// must not be written to. Of a [reload.Join], load maps a part.
//
// It is an error if content has no File, as that of [reload.HTTP] or [reload.FS]
// without a Cache, or if f is mapped already. If the system refuses to map, which may be
// for a moment, the error is one of [reload.Retryable].
func (f *File[T]) Map(content *reload.Content) ([]byte, error) {
	switch {
	case f.data != nil:
		return nil, errors.New("mapped: Map of a File that is mapped already")
	case content.File == nil:
		return nil, errors.New("mapped: content without a File: put a reload.Cache around its source")
	}
	info, err := content.File.Stat()
	if err != nil {
		return nil, reload.Retryable(err)
	}
	size := info.Size()
	switch {
	case size == 0:
		return nil, errors.New("mapped: the file is empty")
	case size != int64(int(size)):
		return nil, fmt.Errorf("mapped: %d bytes are too many for this platform", size)
	}
	if f.data, err = mapFile(content.File, int(size)); err != nil {
		return nil, reload.Retryable(err)
	}
	f.cleanup = runtime.AddCleanup(f, forget, f.data)
	return f.data, nil
}

// forget unmaps the file of a File that the garbage collector took.
func forget(data []byte) { _ = unmapFile(data) }

// unmap is the Discard function. After a failed load there may be nothing to unmap.
func (f *File[T]) unmap() error {
	if f.data == nil {
		return nil
	}
	f.cleanup.Stop()
	data := f.data
	f.data = nil
	return unmapFile(data)
}
