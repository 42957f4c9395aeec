package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"github.com/poolswap/poolswap/fleet"
)

// serve starts the server.
func (d *demo) serve(ctx context.Context) (err error) {
	log := d.file("server.log")
	d.say("$ fleetd serve -addr %s -dir server", d.address)
	if d.server, err = start(log, d.fleetd, "serve", "-addr", d.address, "-dir", d.file("server")); err != nil {
		return err
	}
	return until(ctx, "the server says that it serves", func() bool {
		text, _ := os.ReadFile(log) // made by start
		return strings.Contains(string(text), "serving at ")
	}, d.server)
}

// startReplica starts a replica, and waits until it says whether it is ready.
func (d *demo) startReplica(ctx context.Context, r *replica, status int) (err error) {
	r.starts++
	if r.process, err = start(d.file(fmt.Sprintf("%s.%d.log", r.id, r.starts)), d.program, r.args...); err != nil {
		return err
	}
	return d.untilReady(ctx, r, status)
}

// untilReady waits until a replica answers with a status when asked whether it is
// ready.
func (d *demo) untilReady(ctx context.Context, r *replica, status int) error {
	return until(ctx, fmt.Sprintf("%s answers /ready with %d", r.id, status), func() bool {
		got, _, err := get(ctx, d.client, r.url+"/ready")
		return err == nil && got == status
	}, r.process)
}

// password returns the password of a replica.
func (d *demo) password(ctx context.Context, id string) (string, error) {
	text, err := exec.CommandContext(ctx, d.fleetd, "password", "-dir", d.file("server"), id).Output()
	return string(text), err
}

// quietly runs fleetd as the publisher, and returns what it prints.
func (d *demo) quietly(ctx context.Context, args ...string) (string, error) {
	all := []string{args[0], "-server", "nats://" + d.address, "-user", "publisher", "-password-file", d.file("server/publisher.password")}
	switch args[0] {
	case "publish", "store":
		all = append(all, "-by", "demo", "-key", d.file("publisher.key"))
	case "canary", "promote", "rollback":
		all = append(all, "-by", "demo")
	}
	c := exec.CommandContext(ctx, d.fleetd, append(all, args[1:]...)...)
	c.Dir = d.dir
	out, err := c.Output()
	if failed := new(exec.ExitError); errors.As(err, &failed) {
		err = fmt.Errorf("fleetd %s: exit status %d: %s", args[0], failed.ExitCode(), strings.TrimSpace(string(failed.Stderr)))
	}
	return strings.TrimSpace(string(out)), err
}

// command is quietly, and prints the command and what that prints.
func (d *demo) command(ctx context.Context, args ...string) (string, error) {
	line := "$ fleetd"
	for _, arg := range args {
		if strings.Contains(arg, " ") {
			arg = fmt.Sprintf("%q", arg)
		}
		line += " " + arg
	}
	d.say("%s", line)
	out, err := d.quietly(ctx, args...)
	d.say("%s", out)
	return out, err
}

// refused runs a command that must fail.
func (d *demo) refused(ctx context.Context, args ...string) error {
	_, err := d.command(ctx, args...)
	if err == nil {
		return fmt.Errorf("fleetd %s must fail here, and did not", args[0])
	}
	d.say("%v", err)
	return nil
}

// untilStatus waits until what the server knows is right.
func (d *demo) untilStatus(ctx context.Context, what string, right func(*fleet.Status) bool) error {
	return until(ctx, what, func() bool {
		text, err := d.quietly(ctx, "status", "-json", "asn")
		s := new(fleet.Status)
		return err == nil && json.Unmarshal([]byte(text), s) == nil && right(s)
	}, d.running()...)
}
