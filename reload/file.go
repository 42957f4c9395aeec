package reload

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"sync"
	"time"
)

// DefaultRest stands for FileOptions.Rest of 0. File systems stamp changes with the
// time of their last clock tick, so two changes within a tick have one stamp; this is
// five ticks of the slowest clocks.
const DefaultRest = 50 * time.Millisecond

// restMax is how long an attempt waits for a file that goes on changing, unless Rest is
// longer.
const restMax = time.Second

// FileOptions configure [FileWithOptions]. The zero FileOptions will do.
type FileOptions struct {
	// Rest is how long the file must not have changed before it is read; 0 stands for
	// DefaultRest. A longer Rest is for writers that pause in the middle of a file,
	// and delays each attempt that finds a change. A negative Rest reads at once, for
	// files that are only ever replaced by rename.
	Rest time.Duration
}

// File returns a Source that reads a file. Revisions are made of the file's
// identity, size, change and modification time, so every way of replacing a file
// shows: rename over it, a rewrite in place, a symbolic link that comes to point
// elsewhere on the way to it, deletion and return. A file that changes while it
// is read is read again. A name that
// is of no regular file is an error.
//
// An idle poll is one system call. On linux/amd64 and linux/arm64 it allocates
// nothing.
//
// Content.Modified is the modification time, and Content.File the open file.
func File(name string) Source { return FileWithOptions(name, FileOptions{}) }

// FileWithOptions is [File] with options.
func FileWithOptions(name string, options FileOptions) Source {
	return &fileSource{name: name, rest: cmp.Or(options.Rest, DefaultRest), stat: newPathStat(name)}
}

type fileSource struct {
	name string
	rest time.Duration

	mu   sync.Mutex // guards the fields below
	stat pathStat
	last fileState
	rev  string // the text of last
}

// fileState differs between two contents of a file.
type fileState struct {
	device, inode uint64
	size          int64
	modified      int64  // nanoseconds since 1970
	changed       int64  // the same, 0 where the system does not say
	links         uint64 // names of the file, 0 where the system does not say
}

func (s fileState) String() string {
	return fmt.Sprintf("%x-%x-%x-%x-%x", s.device, s.inode, s.size, s.modified, s.changed)
}

// String returns the file's name.
func (f *fileSource) String() string { return f.name }

// Fetch implements Source.
func (f *fileSource) Fetch(ctx context.Context, have string) (*Content, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	state, err := f.stat.state()
	if err != nil {
		return nil, err
	}
	if f.rev == "" || state != f.last {
		f.last, f.rev = state, state.String()
	}
	if have == f.rev {
		return nil, ErrNotModified
	}
	return f.open(ctx)
}

// open opens the file once it is at rest.
func (f *fileSource) open(ctx context.Context) (_ *Content, err error) {
	err = atRest(ctx, f.rest, func() (time.Time, error) {
		info, err := os.Stat(f.name)
		if err != nil {
			return time.Time{}, err
		}
		state := stateOf(info)
		return time.Unix(0, max(state.modified, state.changed)), regular(f.name, info)
	})
	if err != nil {
		return nil, err
	}
	file, info, err := openRegular(f.name)
	if err != nil {
		return nil, err
	}
	state := stateOf(info)
	body := &steadyBody{Reader: fromStart(file), Closer: file, size: info.Size(), same: func() (bool, error) {
		info, err := file.Stat()
		return err == nil && sameContent(state, stateOf(info)), err
	}}
	return &Content{Revision: state.String(), Size: info.Size(), Modified: info.ModTime(), Body: body, File: file, Changed: body.changed}, nil
}

// openRegular opens a regular file. It does not wait for the writer of a FIFO
// that has taken the file's place.
func openRegular(name string) (*os.File, fs.FileInfo, error) {
	return opened(name, func() (*os.File, error) { return os.OpenFile(name, os.O_RDONLY|nonBlocking, 0) })
}

// opened returns the file that open opens, if it is regular.
func opened(name string, open func() (*os.File, error)) (*os.File, fs.FileInfo, error) {
	file, err := open()
	if err != nil {
		return nil, nil, err
	}
	info, err := file.Stat()
	if err == nil {
		err = regular(name, info)
	}
	if err != nil {
		return nil, nil, errors.Join(err, file.Close())
	}
	return file, info, nil
}

// sameContent reports whether an open file has its content still. The loss of its last
// name, to a rename over it or a deletion, changes the change time, not the
// content.
func sameContent(then, now fileState) bool {
	if now.links == 0 {
		now.changed, now.links = then.changed, then.links
	}
	return now == then
}

// fromStart returns a reader of the whole file that does not use the file's offset.
func fromStart(file *os.File) io.Reader { return io.NewSectionReader(file, 0, math.MaxInt64) }

// regular returns an error unless info is of a regular file.
func regular(name string, info fs.FileInfo) error {
	if info.Mode().IsRegular() {
		return nil
	}
	return &fs.PathError{Op: "open", Path: name, Err: fmt.Errorf("is no regular file but %v", info.Mode().Type())}
}

// atRest waits until a file has not changed for a time.
func atRest(ctx context.Context, rest time.Duration, changed func() (time.Time, error)) error {
	for began := time.Now(); ; {
		at, err := changed()
		if err != nil {
			return err
		}
		age := time.Since(at)
		if age < 0 || age >= rest { // younger than now is another machine's clock
			return nil
		}
		if time.Since(began) > restMax {
			return fmt.Errorf("%w: it does not come to rest", ErrChanged)
		}
		sleep(ctx, rest-age)
		if err := ctx.Err(); err != nil {
			return err
		}
	}
}

// steadyBody reads a file, and fails if the file has changed meanwhile.
type steadyBody struct {
	io.Reader
	io.Closer
	size int64 // when it was opened
	read int64
	same func() (bool, error)
}

func (b *steadyBody) Read(p []byte) (n int, err error) {
	n, err = b.Reader.Read(p)
	b.read += int64(n)
	if err == io.EOF || b.read > b.size { //nolint:errorlint // Read returns io.EOF itself
		err = cmp.Or(b.changed(), err)
	}
	return n, err
}

// changed returns ErrChanged if the file has changed since it was opened.
func (b *steadyBody) changed() error {
	same, err := b.same()
	if err == nil && !same {
		err = ErrChanged
	}
	return err
}
