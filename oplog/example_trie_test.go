package oplog_test

import (
	"context"
	"fmt"
	"net/netip"
	"slices"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/oplog"
	"github.com/poolswap/poolswap/oplog/oplogtest"
)

// PrefixTrie finds the longest of its prefixes that contains an IPv4 address.
// Its nodes are in one slice and name each other by index, so it has no pointers:
// to copy it is to copy a slice, and the collector does not look inside.
type PrefixTrie struct {
	poolswap.Ref
	nodes []trieNode // the first is the root
}

type trieNode struct {
	child  [2]int32 // 0: none, as the root is the child of no node
	origin uint32   // the network's number; 0: no prefix ends here
}

// Announcement is an operation on a PrefixTrie. An Origin of 0 withdraws the
// prefix.
type Announcement struct {
	Prefix netip.Prefix
	Origin uint32
}

// bit returns bit i of an address, the highest first.
func bit(addr [4]byte, i int) byte { return addr[i/8] >> (7 - i%8) & 1 }

func (t *PrefixTrie) apply(op Announcement) error {
	if !op.Prefix.IsValid() || !op.Prefix.Addr().Is4() {
		return fmt.Errorf("%v is no IPv4 prefix", op.Prefix)
	}
	node, addr := int32(0), op.Prefix.Addr().As4()
	for i := range op.Prefix.Bits() {
		next := t.nodes[node].child[bit(addr, i)]
		if next == 0 {
			next = int32(len(t.nodes))
			t.nodes = append(t.nodes, trieNode{})
			t.nodes[node].child[bit(addr, i)] = next
		}
		node = next
	}
	t.nodes[node].origin = op.Origin
	return nil
}

// lookup returns the origin of the longest prefix that contains addr, or 0.
func (t *PrefixTrie) lookup(addr netip.Addr) (origin uint32) {
	bits, node := addr.As4(), int32(0)
	for i := 0; ; i++ {
		if t.nodes[node].origin != 0 {
			origin = t.nodes[node].origin
		}
		if i == 32 {
			return origin
		}
		if node = t.nodes[node].child[bit(bits, i)]; node == 0 {
			return origin
		}
	}
}

func trieOptions() oplog.Options[PrefixTrie, Announcement] {
	return oplog.Options[PrefixTrie, Announcement]{
		New:   func() *PrefixTrie { return &PrefixTrie{nodes: make([]trieNode, 1)} },
		Apply: (*PrefixTrie).apply,
		Copy: func(dst, src *PrefixTrie) error {
			dst.nodes = append(dst.nodes[:0], src.nodes...)
			return nil
		},
		Reset: func(t *PrefixTrie) { t.nodes = append(t.nodes[:0], trieNode{}) },
	}
}

func equalTries(a, b *PrefixTrie) bool { return slices.Equal(a.nodes, b.nodes) }

// A routing table follows announcements while readers look up addresses.
func Example_trie() {
	ctx := context.Background()
	trie, err := oplog.New(trieOptions())
	if err != nil {
		fmt.Println(err)
		return
	}
	printOrigins := func(addrs ...string) {
		trie.Container().WithAcquire(func(t *PrefixTrie) {
			for _, addr := range addrs {
				fmt.Println(addr, t.lookup(netip.MustParseAddr(addr)))
			}
		})
	}
	_, _ = trie.Publish(ctx,
		Announcement{netip.MustParsePrefix("192.0.2.0/24"), 64500},
		Announcement{netip.MustParsePrefix("192.0.2.128/25"), 64501})
	printOrigins("192.0.2.1", "192.0.2.129", "198.51.100.1")

	_, _ = trie.Publish(ctx, Announcement{Prefix: netip.MustParsePrefix("192.0.2.128/25")})
	_, _ = trie.Publish(ctx, Announcement{netip.MustParsePrefix("192.0.2.1/32"), 64502})
	printOrigins("192.0.2.1", "192.0.2.129")

	_, err = trie.Publish(ctx, Announcement{netip.MustParsePrefix("2001:db8::/32"), 64500})
	fmt.Println(err)
	fmt.Println(oplogtest.Verify(trie, equalTries))
	// Output:
	// 192.0.2.1 64500
	// 192.0.2.129 64501
	// 198.51.100.1 0
	// 192.0.2.1 64502
	// 192.0.2.129 64500
	// oplog: operation 0: 2001:db8::/32 is no IPv4 prefix
	// <nil>
}
