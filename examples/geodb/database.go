package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log"
	"os"

	"github.com/oschwald/maxminddb-golang/v2"

	"github.com/poolswap/poolswap"
)

// database is a database file that is mapped into memory. The pool's factory
// takes no arguments, so it makes a database without a file; the writer opens
// one into it, and Discard closes it.
type database struct {
	poolswap.Ref
	reader *maxminddb.Reader // nil if no file is open
	file   fs.FileInfo
}

// newPool returns a pool that keeps nothing: what is left of a database without
// its mapping is not worth keeping.
func newPool() *poolswap.Pool[database, *database] {
	return poolswap.NewPoolWithOptions(
		func() *database { return new(database) },
		nil,
		poolswap.Options[database]{
			Spares:  poolswap.NoSpares,
			Discard: (*database).close,
			Report:  func(err error) { log.Print(err) },
		})
}

// open maps the file and checks all of it, until ctx ends. After an error
// Discard closes what is open.
func (d *database) open(ctx context.Context, path string) (err error) {
	if d.file, err = os.Stat(path); err != nil {
		return err
	}
	if d.reader, err = maxminddb.Open(path); err == nil {
		err = verify(ctx, d.reader)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// verify walks the whole tree and decodes every record once. Reader.Verify
// would refuse published databases for a missing description.
func verify(ctx context.Context, reader *maxminddb.Reader) error {
	decoded := make(map[uintptr]bool)
	for result := range reader.Networks() {
		if result.Err() == nil && decoded[result.Offset()] {
			continue
		}
		var record any
		if err := cmp.Or(ctx.Err(), result.Decode(&record)); err != nil {
			return err
		}
		decoded[result.Offset()] = true
	}
	if len(decoded) == 0 {
		return errors.New("the database has no records")
	}
	return nil
}

// closeReader is a variable for the tests, which count.
var closeReader = (*maxminddb.Reader).Close

// close unmaps the file, if open came so far.
func (d *database) close() {
	if d.reader == nil {
		return
	}
	if err := closeReader(d.reader); err != nil {
		log.Print(err)
	}
}

// unchanged reports whether the file is the one that was opened. As long as it
// is mapped no other file can have its inode.
func unchanged(a, b fs.FileInfo) bool {
	return os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}
