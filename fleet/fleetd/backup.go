package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/poolswap/poolswap/fleet"
)

// backup writes a backup of a name to a file, or to the standard output.
func backup(ctx context.Context, c *call) error {
	client := clientFlags(c.flags)
	args, err := c.parse(2, 2)
	if err != nil {
		return err
	}
	f, conn, err := client.controller(args[0])
	if err != nil {
		return err
	}
	defer conn.Close()
	if args[1] == "-" {
		return f.Backup(ctx, c.stdout)
	}
	return replaceFile(args[1], func(w io.Writer) error { return f.Backup(ctx, w) })
}

// replaceFile writes a file, which takes its name once it is whole and on the disk.
func replaceFile(name string, write func(w io.Writer) error) error {
	file, err := os.CreateTemp(filepath.Dir(name), filepath.Base(name)+".*")
	if err != nil {
		return fmt.Errorf("fleetd: %w", err)
	}
	defer os.Remove(file.Name()) // it has another name then
	err = write(file)
	if err == nil {
		err = file.Sync()
	}
	if err = errors.Join(err, file.Close()); err != nil {
		return err
	}
	if err := os.Rename(file.Name(), name); err != nil {
		return fmt.Errorf("fleetd: %w", err)
	}
	return nil
}

// restore stores what a backup has and makes its plan the current one.
func restore(ctx context.Context, c *call) error {
	return steer(ctx, c, 2, 2, func(f *fleet.Controller, args []string, why string) (*fleet.Plan, error) {
		if args[0] == "-" {
			return f.Restore(ctx, c.stdin, why)
		}
		file, err := os.Open(args[0])
		if err != nil {
			return nil, fmt.Errorf("fleetd: %w", err)
		}
		defer file.Close()
		return f.Restore(ctx, file, why)
	})
}
