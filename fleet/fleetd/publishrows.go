package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/poolswap/poolswap/fleet"
)

// storeContent calls store with content, or with the changes that it makes to the revision
// base; if that fails since whole content is due, again with the whole. It returns
// errNoChange if there are none.
func (u *upload) storeContent(ctx context.Context, c *call, client *fleet.Client, publisher *fleet.Publisher, name string, content io.Reader, store func(p *fleet.Publisher, base string, content io.Reader) error) error {
	if *u.rows == "" {
		return store(publisher, *u.base, content)
	}
	kind, key, _ := strings.Cut(*u.rows, ":")
	format, err := newRowFormat(kind, key)
	if err != nil {
		return err
	}
	d := newDelta()
	if *u.base != "" {
		if err := u.readBase(ctx, client, name, format, d); err != nil {
			return err
		}
	}
	file, err := rereadable(content)
	if err != nil {
		return fmt.Errorf("fleetd: %w", err)
	}
	defer file.Close()
	if err := format.read(newRowFile(file.Name(), file), until(ctx, d.addNew)); err != nil {
		return err
	}
	d.addRemoved()
	publisher = publisher.WithState(d.state.Sum())
	if *u.base != "" {
		if len(d.ops) == 0 {
			return errNoChange
		}
		var delta bytes.Buffer
		if err := d.write(&delta, format); err != nil {
			return err
		}
		err := store(publisher, *u.base, bytes.NewReader(delta.Bytes()))
		if !errors.Is(err, fleet.ErrSnapshot) {
			return err
		}
		fmt.Fprintf(c.stderr, "fleetd: a snapshot is due, so all %d rows are stored\n", d.news)
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return fmt.Errorf("fleetd: %w", err)
	}
	return store(publisher, "", file)
}

// errNoChange is why nothing is published.
var errNoChange = errors.New("fleetd: no row differs, so nothing is published")

// readBase reads the rows of the revision base: its whole content, and the deltas since.
func (u *upload) readBase(ctx context.Context, client *fleet.Client, name string, format rowFormat, d *delta) error {
	controller, err := fleet.NewController(client, name)
	if err != nil {
		return err
	}
	stored, err := controller.Revisions(ctx)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(stored, func(one fleet.Stored) bool { return one.ID == *u.base })
	if i < 0 {
		return fmt.Errorf("fleetd: -delta-from: revision %q of %s is not stored", *u.base, name)
	}
	chain, err := client.Chain(ctx, name, stored[i].Revision, "")
	if err != nil {
		return err
	}
	for _, one := range chain {
		content, err := client.Content(ctx, name, one)
		if err != nil {
			return err
		}
		file := newRowFile("revision "+one.ID, content)
		if one.Base == "" {
			err = format.read(file, d.addOld)
		} else {
			err = format.readDelta(file, d.change)
		}
		content.Close()
		if err != nil {
			return err
		}
	}
	return nil
}

// rereadable returns content as a file, whose name is gone by now if it was a pipe.
func rereadable(content io.Reader) (*os.File, error) {
	if file, ok := content.(*os.File); ok {
		if info, err := file.Stat(); err == nil && info.Mode().IsRegular() {
			return file, nil
		}
	}
	return temporaryFile(content)
}
