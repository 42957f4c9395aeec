package main

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"slices"
	"strconv"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/reload"
)

// table maps ranges of IP addresses to autonomous systems. Its memory is recycled:
// two slices, however many rows.
type table struct {
	poolswap.Ref

	revision string // whose content it is
	rows     []row  // ascending
	names    []byte // one after another
}

// row is a range of addresses, which includes both ends. Its name is
// table.names[from:to].
type row struct {
	first, last   netip.Addr
	asn, from, to uint32
}

// reset empties the table for another one and keeps its memory.
func (t *table) reset() bool {
	t.revision, t.rows, t.names = "", t.rows[:0], t.names[:0]
	return true
}

// loader returns a load for a Reloader: it fills next from lines of first address,
// last address, number and name. What it refuses is not served, and the replica
// reports it.
func loader(maxLoss float64) func(ctx context.Context, next, current *table, content *reload.Content) error {
	return func(_ context.Context, next, current *table, content *reload.Content) error {
		lines := csv.NewReader(content.Body)
		lines.FieldsPerRecord, lines.ReuseRecord = 4, true
		for {
			record, err := lines.Read()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				return err // names the line
			}
			if err := next.add(record); err != nil {
				line, _ := lines.FieldPos(0)
				return fmt.Errorf("line %d: %w", line, err)
			}
		}
		if len(next.rows) == 0 {
			return errors.New("the table is empty")
		}
		next.revision = content.Revision
		if current == nil {
			return nil
		}
		return reload.CheckLoss(len(current.rows), len(next.rows), maxLoss)
	}
}

// add appends a row. Published tables have a few that begin inside the one before:
// they must ascend, but may overlap.
func (t *table) add(record []string) error {
	first, firstErr := netip.ParseAddr(record[0])
	last, lastErr := netip.ParseAddr(record[1])
	asn, asnErr := strconv.ParseUint(record[2], 10, 32)
	if err := errors.Join(firstErr, lastErr, asnErr); err != nil {
		return err
	}
	if last.Less(first) || len(t.rows) > 0 && !t.rows[len(t.rows)-1].first.Less(first) {
		return fmt.Errorf("%v - %v is no range, or does not ascend", first, last)
	}
	from := len(t.names)
	t.names = append(t.names, record[3]...)
	t.rows = append(t.rows, row{first, last, uint32(asn), uint32(from), uint32(len(t.names))}) // names have less than 4 GiB: reload.DefaultMaxBytes
	return nil
}

// lookup returns the system of an address, or 0. The name is part of the table:
// it is valid while the caller holds that.
func (t *table) lookup(ip netip.Addr) (asn uint32, name []byte) {
	i, found := slices.BinarySearchFunc(t.rows, ip, func(r row, ip netip.Addr) int { return r.first.Compare(ip) })
	if !found {
		i-- // the last row that begins before ip
	}
	if i < 0 || t.rows[i].last.Less(ip) {
		return 0, nil
	}
	r := &t.rows[i]
	return r.asn, t.names[r.from:r.to]
}
