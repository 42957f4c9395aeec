package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

const (
	published    = "@ip-location-db/asn@2.3.2026061719" // of npm
	archive      = "ip-location-db-asn-2.3.2026061719.tgz"
	downloadTime = 40 * time.Second
	madeUpRows   = 100_000 // where nothing can be downloaded
)

// probe is an address, and the right answer for it without the stamp.
type probe struct {
	ip, name string
	asn      uint32
}

// makeTables writes the editions of a table, and a broken one, and chooses probes.
func (d *demo) makeTables(ctx context.Context) error {
	rows, err := d.table(ctx)
	if err != nil {
		return err
	}
	d.say("%d rows. Each name ends in its edition, so that an answer tells of which edition it is.", len(rows))
	for range 1000 {
		row := rows[rand.IntN(len(rows))]
		asn, err := strconv.ParseUint(row[2], 10, 32)
		if err != nil {
			return err
		}
		d.checker.probes = append(d.checker.probes, probe{row[0], row[3], uint32(asn)})
	}
	for e := 1; e <= editions; e++ {
		var text bytes.Buffer
		w := csv.NewWriter(&text)
		for _, row := range rows {
			w.Write([]string{row[0], row[1], row[2], row[3] + stamp(e)}) //nolint:errcheck // to memory
		}
		w.Flush()
		if err := os.WriteFile(d.file(edition(e)), text.Bytes(), 0o600); err != nil {
			return err
		}
		if e == 2 { // an error message ends it in the middle, as when a job writes the answer of a server
			broken := append(text.Bytes()[:text.Len()/2], "\n<html>502 Bad Gateway</html>\n"...)
			if err := os.WriteFile(d.file("broken.csv"), broken, 0o600); err != nil {
				return err
			}
		}
	}
	return nil
}

// edition returns the name of the file of an edition.
func edition(e int) string { return fmt.Sprintf("edition-%d.csv", e) }

// stamp is how the name in every row of an edition ends.
func stamp(e int) string { return fmt.Sprintf(" (edition %d)", e) }

// table returns the rows of the published table, or of one that is made up.
func (d *demo) table(ctx context.Context) ([][]string, error) {
	n := d.rows
	if n == 0 {
		d.say("Downloading %s of npm", published)
		rows, err := download(ctx, d.dir)
		if err == nil {
			d.say("The table is that of npm (CC BY 4.0, by RouteViews, DB-IP and NRO).")
			return rows, nil
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		d.say("It cannot be had here: %v", err)
		n = madeUpRows
	}
	d.say("The table is made up.")
	return makeUp(n), nil
}

// download returns the rows of the published table, IPv4 before IPv6.
func download(ctx context.Context, dir string) (rows [][]string, err error) {
	ctx, cancel := context.WithTimeout(ctx, downloadTime)
	defer cancel()
	for _, command := range [][]string{
		{"npm", "pack", "--loglevel=error", "--prefer-offline", "--fetch-retries=0", published},
		{"tar", "xzf", archive},
	} {
		c := exec.CommandContext(ctx, command[0], command[1:]...)
		c.Dir = dir
		if text, err := c.CombinedOutput(); err != nil {
			line, _, _ := strings.Cut(string(text), "\n")
			return nil, fmt.Errorf("%s: %w: %s", command[0], err, line)
		}
	}
	for _, name := range []string{"asn-ipv4.csv", "asn-ipv6.csv"} {
		file, err := os.Open(filepath.Join(dir, "package", name))
		if err != nil {
			return nil, err
		}
		defer file.Close()
		reader := csv.NewReader(file)
		reader.FieldsPerRecord = 4
		more, err := reader.ReadAll()
		if err != nil {
			return nil, err
		}
		rows = append(rows, more...)
	}
	return rows, nil
}

// makeUp returns the rows of a table like the published one.
func makeUp(n int) (rows [][]string) {
	for _, from := range []netip.Addr{netip.MustParseAddr("10.0.0.0"), netip.MustParseAddr("2001:db8::")} {
		for row := range n / 2 {
			at := func(offset byte) string { // within 256 addresses of the row's own
				b := from.AsSlice()
				end := len(b) - 1
				b[end-2], b[end-1], b[end] = byte(row>>8), byte(row), offset
				b[end-3] += byte(row >> 16)
				ip, _ := netip.AddrFromSlice(b)
				return ip.String()
			}
			system := row % 5000
			rows = append(rows, []string{at(0), at(199), strconv.Itoa(64496 + system), fmt.Sprintf("System %d, Inc.", system)})
		}
	}
	return rows
}
