package fleet_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"log"
	"log/slog"
	"maps"
	"strings"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/fleet"
	"github.com/poolswap/poolswap/oplog"
	"github.com/poolswap/poolswap/oplog/lthash"
	"github.com/poolswap/poolswap/reload"
)

// Networks are the rows that "fleetd publish -rows jsonl:network" publishes.
type Networks struct {
	poolswap.Ref
	rows map[string]subnet // by Network
	hash lthash.Hash       // of rows
}

type subnet struct {
	Network string
	ASN     int
	text    string // the object as its publisher hashes it: without white space
}

// networkChange is an operation.
type networkChange struct {
	subnet
	removed bool
}

func (n *Networks) apply(c networkChange) error {
	if old, ok := n.rows[c.Network]; ok {
		n.hash.Remove([]byte(old.text))
		delete(n.rows, c.Network)
	}
	if !c.removed {
		n.rows[c.Network] = c.subnet
		n.hash.Add([]byte(c.text))
	}
	return nil
}

func newNetworks() (*oplog.Log[Networks, *Networks, networkChange], error) {
	return oplog.New(oplog.Options[Networks, networkChange]{
		New:   func() *Networks { return &Networks{rows: map[string]subnet{}} },
		Apply: (*Networks).apply,
		Copy: func(dst, src *Networks) error {
			dst.rows, dst.hash = maps.Clone(src.rows), src.hash
			return nil
		},
		Reset: func(n *Networks) {
			clear(n.rows)
			n.hash = lthash.Hash{}
		},
	})
}

// decodeNetworks yields the rows of whole content, which is the file as it was published, and
// the operations of a delta.
func decodeNetworks(_ context.Context, content *reload.Content) iter.Seq2[networkChange, error] {
	return func(yield func(networkChange, error) bool) {
		for objects := json.NewDecoder(content.Body); ; {
			var object json.RawMessage
			err := objects.Decode(&object)
			if errors.Is(err, io.EOF) {
				return
			}
			var change networkChange
			if err == nil {
				change, err = decodeNetwork(object, content.Base != "")
			}
			if !yield(change, err) || err != nil {
				return
			}
		}
	}
}

func decodeNetwork(object json.RawMessage, ofDelta bool) (c networkChange, err error) {
	if ofDelta {
		var op struct {
			Op  string
			Row json.RawMessage
			Key string
		}
		if err := json.Unmarshal(object, &op); err != nil {
			return c, err
		}
		switch op.Op {
		case "delete":
			return networkChange{subnet{Network: op.Key}, true}, nil
		case "set":
			object = op.Row
		default:
			return c, fmt.Errorf("the op is %q", op.Op)
		}
	}
	var text bytes.Buffer
	if err := json.Compact(&text, object); err != nil {
		return c, err
	}
	c.text = text.String()
	return c, json.Unmarshal(object, &c.subnet)
}

// A replica follows "fleetd publish -rows jsonl:network -delta-from REVISION", and compares its
// rows with those of the file.
func ExampleSource_rows() {
	ctx := context.Background()
	client, end := startServer()
	defer end()
	networks, err := newNetworks()
	if err != nil {
		log.Fatal(err)
	}
	source, err := fleet.NewSource(client, "asn", fleet.SourceOptions{ID: "r1"})
	if err != nil {
		log.Fatal(err)
	}
	reloader := reload.NewLog(networks, source, decodeNetworks, reload.LogOptions[Networks]{
		Options: reload.Options{Observe: source.Observe, Logger: slog.New(slog.DiscardHandler)},
		Digest:  func(n *Networks) [sha256.Size]byte { return n.hash.Sum() },
	})

	// fleetd publishes this, and sends the digest of the rows with it.
	publisher, err := fleet.NewPublisher(client, "asn", fleet.PublisherOptions{New: true})
	if err != nil {
		log.Fatal(err)
	}
	var state lthash.Hash
	state.Add([]byte(`{"network":"192.0.2.0/24","asn":64496}`))
	state.Add([]byte(`{"network":"198.51.100.0/24","asn":64497}`))
	all := `{"network": "192.0.2.0/24", "asn": 64496}` + "\n" + `{"network": "198.51.100.0/24", "asn": 64497}` + strings.Repeat("\n", 200)
	first, _, err := publisher.WithState(state.Sum()).Publish(ctx, strings.NewReader(all), "")
	fmt.Println(err, reloader.Reload(ctx))

	state.Remove([]byte(`{"network":"192.0.2.0/24","asn":64496}`))
	state.Add([]byte(`{"network":"192.0.2.0/24","asn":64500}`))
	delta := `{"op":"set","row":{"network":"192.0.2.0/24","asn":64500}}`
	_, _, err = publisher.WithState(state.Sum()).PublishDelta(ctx, first.ID, strings.NewReader(delta), "")
	fmt.Println(err, reloader.Reload(ctx), reloader.Status().Deltas)
	networks.Container().WithAcquire(func(n *Networks) { fmt.Println(n.rows["192.0.2.0/24"].ASN, n.rows["198.51.100.0/24"].ASN) })
	// Output:
	// <nil> <nil>
	// <nil> <nil> 1
	// 64500 64497
}
