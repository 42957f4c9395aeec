package main

import (
	"cmp"
	"context"
	"errors"
	"log"

	"github.com/oschwald/maxminddb-golang/v2"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/reload"
)

// database is a database file that is mapped into memory. The pool's factory
// takes no arguments, so it makes a database without a file; load maps one into
// it, and Discard unmaps it.
type database struct {
	poolswap.Ref
	file   *mapping // nil if no file is mapped
	reader *maxminddb.Reader
}

// newPool returns a pool that keeps nothing: a database without its mapping is not
// worth keeping.
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

// load maps the file that was opened, whatever its name stands for by now, and
// checks all of it. After an error Discard unmaps it.
func load(ctx context.Context, next, _ *database, content *reload.Content) (err error) {
	if content.Size == 0 {
		return errors.New("the file is empty")
	}
	if next.file, err = mapFile(content.File, content.Size); err != nil {
		return err
	}
	if next.reader, err = maxminddb.OpenBytes(next.file.bytes); err != nil {
		return err
	}
	return verify(ctx, next.reader)
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

// mapping is a file in memory.
type mapping struct{ bytes []byte }

// closeMapping is a variable for the tests, which count.
var closeMapping = (*mapping).close

// close unmaps the file, if load came so far.
func (d *database) close() {
	if d.file == nil {
		return
	}
	if err := closeMapping(d.file); err != nil {
		log.Print(err)
	}
}
