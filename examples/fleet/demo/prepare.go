package main

import (
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// prepare builds the programs and makes what they need.
func (d *demo) prepare(ctx context.Context) error {
	if err := d.build(ctx); err != nil {
		return err
	}
	files, err := d.table(ctx)
	if err != nil {
		return err
	}
	rows := 0
	for e := 1; e <= editions; e++ {
		if rows, err = writeEdition(d.file(edition(e)), e, files); err != nil {
			return err
		}
	}
	d.say("%d rows. Each name ends in its edition, so that an answer tells of which edition it is.", rows)
	if err := breakFile(d.file("broken.csv"), d.file(edition(2))); err != nil {
		return err
	}
	probes, err := probesOf(files, min(rows, 1000), rows)
	if err != nil {
		return err
	}
	d.checker = newChecker(probes)
	return d.configure()
}

// build builds the programs.
func (d *demo) build(ctx context.Context) error {
	file, err := exec.CommandContext(ctx, "go", "env", "GOMOD").Output()
	if err != nil {
		return err
	}
	here := filepath.Dir(strings.TrimSpace(string(file)))
	d.fleetd, d.program = d.file("fleetd"), d.file("replica")
	for program, source := range map[string]string{d.fleetd: filepath.Join(here, "..", "..", "fleet", "fleetd"), d.program: here} {
		c := exec.CommandContext(ctx, "go", "build", "-o", program, ".")
		c.Dir = source
		if text, err := c.CombinedOutput(); err != nil {
			return fmt.Errorf("go build in %s: %w\n%s", source, err, text)
		}
	}
	return nil
}

// table returns the files of the published table, or of one that is made up.
func (d *demo) table(ctx context.Context) ([]string, error) {
	rows := d.rows
	if rows == 0 {
		files, err := download(ctx, d.dir)
		if err == nil {
			d.say("The table is %s of npm (CC BY 4.0, by RouteViews, DB-IP and NRO).", published)
			return files, nil
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		d.say("%s of npm cannot be had here: %v", published, err)
		rows = madeUpRows
	}
	d.say("The table is made up.")
	return makeUp(d.dir, rows)
}

// edition returns the name of the file of an edition.
func edition(e int) string { return fmt.Sprintf("edition-%d.csv", e) }

// configure makes a key that signs what is published, and the flags of replicas,
// which serve nothing else.
func (d *demo) configure() error {
	public, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		return err
	}
	if err := os.WriteFile(d.file("publisher.key"), []byte(base64.StdEncoding.EncodeToString(private)), 0o600); err != nil {
		return err
	}
	if d.address, err = freeAddress(); err != nil {
		return err
	}
	for i := range 3 {
		id := fmt.Sprintf("r%d", i+1)
		address, err := freeAddress()
		if err != nil {
			return err
		}
		d.replicas = append(d.replicas, &replica{target: target{id: id, url: "http://" + address}, args: []string{
			"-id", id, "-addr", address, "-dir", d.file(id + ".spool"),
			"-server", "nats://" + d.address, "-user", "replica/" + id, "-password-file", d.file(id + ".password"),
			"-key", base64.StdEncoding.EncodeToString(public),
		}})
	}
	return nil
}
