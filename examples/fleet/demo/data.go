package main

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
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
	downloadTime = 40 * time.Second
	madeUpRows   = 100_000 // where nothing can be downloaded
)

// download gets the published table, and returns its files, IPv4 before IPv6.
func download(ctx context.Context, dir string) (files []string, err error) {
	ctx, cancel := context.WithTimeout(ctx, downloadTime)
	defer cancel()
	for _, command := range [][]string{
		{"npm", "pack", "--loglevel=error", "--prefer-offline", "--fetch-retries=0", published},
		{"tar", "xzf", "ip-location-db-asn-2.3.2026061719.tgz"},
	} {
		c := exec.CommandContext(ctx, command[0], command[1:]...)
		c.Dir = dir
		if text, err := c.CombinedOutput(); err != nil {
			line, _, _ := strings.Cut(string(text), "\n")
			return nil, fmt.Errorf("%s: %w: %s", command[0], err, line)
		}
	}
	return []string{filepath.Join(dir, "package", "asn-ipv4.csv"), filepath.Join(dir, "package", "asn-ipv6.csv")}, nil
}

// makeUp writes a table of n rows, in files like those that are published.
func makeUp(dir string, n int) (files []string, err error) {
	files = []string{filepath.Join(dir, "asn-ipv4.csv"), filepath.Join(dir, "asn-ipv6.csv")}
	for i, from := range []netip.Addr{netip.MustParseAddr("10.0.0.0"), netip.MustParseAddr("2001:db8::")} {
		file, err := os.Create(files[i])
		if err != nil {
			return nil, err
		}
		w := csv.NewWriter(file)
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
			w.Write([]string{at(0), at(199), strconv.Itoa(64496 + system), fmt.Sprintf("System %d, Inc.", system)}) //nolint:errcheck // Error below says if that failed
		}
		w.Flush()
		if err := errors.Join(w.Error(), file.Close()); err != nil {
			return nil, err
		}
	}
	return files, nil
}

// stamp is how the name in every row of an edition ends. So no two editions have
// one answer in common, and each answer says of which edition it is.
func stamp(edition int) string { return fmt.Sprintf(" (edition %d)", edition) }

// writeEdition writes an edition: the rows of the files, with its stamp. It
// returns the number of rows.
func writeEdition(to string, edition int, files []string) (rows int, err error) {
	file, err := os.Create(to)
	if err != nil {
		return 0, err
	}
	w := csv.NewWriter(file)
	err = eachRow(files, func(record []string) {
		rows++
		record[3] += stamp(edition)
		w.Write(record) //nolint:errcheck // Error below says if that failed
	})
	w.Flush()
	return rows, errors.Join(err, w.Error(), file.Close())
}

// eachRow calls f with each row of files.
func eachRow(files []string, f func(record []string)) error {
	for _, name := range files {
		file, err := os.Open(name)
		if err != nil {
			return err
		}
		defer file.Close()
		r := csv.NewReader(file)
		r.FieldsPerRecord, r.ReuseRecord = 4, true
		for {
			record, err := r.Read()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			f(record)
		}
	}
	return nil
}

// probe is an address, and what a replica must say of it, but for the stamp.
type probe struct {
	ip, name string
	asn      uint32
}

// probesOf returns the first addresses of n rows out of rows, at random.
func probesOf(files []string, n, rows int) (probes []probe, err error) {
	i := 0
	err = eachRow(files, func(record []string) {
		if rand.IntN(rows-i) < n-len(probes) { // each choice of n rows is as likely
			asn, _ := strconv.ParseUint(record[2], 10, 32) // a replica would refuse the table
			probes = append(probes, probe{record[0], record[3], uint32(asn)})
		}
		i++
	})
	return probes, err
}

// breakFile writes a copy of a file that an error message ends in the middle, as
// when a job writes what a server answered.
func breakFile(to, from string) error {
	text, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, append(text[:len(text)/2], "\n<html>502 Bad Gateway</html>\n"...), 0o600)
}
