package main

import (
	"context"
	"crypto/sha256"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/oplog"
	"github.com/poolswap/poolswap/oplog/lthash"
	"github.com/poolswap/poolswap/reload"
	"github.com/poolswap/poolswap/slab"
)

// table maps networks to autonomous systems.
type table struct {
	poolswap.Ref

	revision string       // whose content it is
	systems  slab.Strings // by network: number and name, as "64496,Example"
	hash     lthash.Hash  // of the rows, as fleetd publish -rows csv makes it
	row      []byte       // a buffer
}

// change is an operation on a table: it sets or deletes a row, or with a revision it ends
// the changes that lead there.
type change struct {
	network, system string // without a system, the row is deleted
	revision        string
}

type tableLog = oplog.Log[table, *table, change]

// newLog returns a log whose readers hold two old tables at most.
func newLog(report func(error)) (*tableLog, error) {
	return oplog.New(oplog.Options[table, change]{
		New:   func() *table { return new(table) },
		Apply: (*table).apply,
		Copy: func(to, from *table) error {
			to.systems.CopyFrom(&from.systems)
			to.revision, to.hash = from.revision, from.hash
			return nil
		},
		Reset: func(t *table) {
			t.systems.Reset()
			t.revision, t.hash = "", lthash.Hash{}
		},
		Pool: poolswap.Options[table]{MaxLive: 4, Report: report},
	})
}

func (t *table) apply(c change) error {
	if c.revision != "" {
		t.revision = c.revision
		return nil
	}
	if old, ok := t.systems.Get(c.network); ok {
		t.hash.Remove(t.rowOf(c.network, old))
	}
	if c.system == "" {
		t.systems.Delete(c.network)
		return nil
	}
	t.hash.Add(t.rowOf(c.network, c.system))
	t.systems.Set(c.network, c.system)
	return nil
}

func (t *table) rowOf(network, system string) []byte {
	asn, name, _ := strings.Cut(system, ",")
	t.row = lthash.AppendRow(t.row[:0], network, asn, name)
	return t.row
}

// digest is for reload.LogOptions: a table whose rows are not those of the publisher is
// not served.
func (t *table) digest() [sha256.Size]byte { return t.hash.Sum() }

// check returns a Check for reload.LogOptions.
func check(maxLoss float64) func(next, current *table, content *reload.Content) error {
	return func(next, current *table, _ *reload.Content) error {
		if next.systems.Len() == 0 {
			return errors.New("the table is empty")
		}
		return reload.CheckLoss(current.systems.Len(), next.systems.Len(), maxLoss)
	}
}

var columns = []string{"network", "asn", "name"}

// decode yields the changes of content: of CSV with these columns, and of a delta of
// fleetd diff, which has the op before them. Its error refuses the content, and the replica
// reports it.
func decode(_ context.Context, content *reload.Content) iter.Seq2[change, error] {
	return func(yield func(change, error) bool) {
		lines := csv.NewReader(content.Body)
		lines.ReuseRecord = true
		want := columns
		if content.Base != "" {
			want = append([]string{"op"}, columns...)
		}
		header, err := lines.Read()
		if err == nil && !slices.Equal(header, want) {
			err = fmt.Errorf("the header is %q, not %q", header, want)
		}
		for err == nil {
			var record []string
			if record, err = lines.Read(); err != nil {
				break // the error names the line
			}
			var c change
			if c, err = decodeRow(record); err != nil {
				line, _ := lines.FieldPos(0)
				err = fmt.Errorf("line %d: %w", line, err)
			} else if !yield(c, nil) {
				return
			}
		}
		if !errors.Is(err, io.EOF) || header == nil {
			yield(change{}, err)
			return
		}
		yield(change{revision: content.Revision}, nil)
	}
}

// decodeRow decodes a row, or an operation on one.
func decodeRow(record []string) (c change, err error) {
	op := "set"
	if len(record) > len(columns) {
		op, record = record[0], record[1:]
	}
	network, err := netip.ParsePrefix(record[0])
	switch {
	case err != nil:
		return c, err
	case record[0] != networkOf(network.Addr()).String():
		return c, fmt.Errorf("%s is no /24, and no /48 of IPv6", record[0])
	case op == "delete":
		return change{network: record[0]}, nil
	case op != "set":
		return c, fmt.Errorf("the op is %q", op)
	}
	if _, err := strconv.ParseUint(record[1], 10, 32); err != nil {
		return c, err
	}
	return change{network: record[0], system: record[1] + "," + record[2]}, nil
}

// networkOf returns the network that has the row of an address.
func networkOf(ip netip.Addr) netip.Prefix {
	bits := 48
	if ip.Is4() {
		bits = 24
	}
	network, _ := ip.Prefix(bits)
	return network
}

// lookup returns the system of an address, or 0. The name is part of the table: it is
// valid while the caller holds that.
func (t *table) lookup(ip netip.Addr) (asn uint64, name string) {
	system, _ := t.systems.Get(networkOf(ip).String())
	number, name, _ := strings.Cut(system, ",")
	asn, _ = strconv.ParseUint(number, 10, 32)
	return asn, name
}
