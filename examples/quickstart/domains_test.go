package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/slab"
)

type Domains struct {
	poolswap.Ref
	names slab.Map[struct{}] // Set copies a name; names.Reset, in the pool's reset, keeps that memory
}

func newDomains() *poolswap.Pool[Domains, *Domains] {
	return poolswap.NewPool(
		func() *Domains { return new(Domains) },
		func(d *Domains) bool { d.names.Reset(); return true })
}

func ExampleDomains() {
	pool := newDomains()
	list := poolswap.NewEmptyContainer(pool)
	next := pool.Get()
	next.names.Set("ads.example", struct{}{})
	list.Update(next)
	list.WithAcquire(func(d *Domains) {
		_, denied := d.names.Get("ads.example")
		fmt.Println(denied)
	})
	// Output: true
}

// TestDomains looks for the second form of the quick start in the README.
func TestDomains(t *testing.T) {
	_, second, _ := strings.Cut(read(t, "../../README.md"), "## Quick start\n")
	_, second, _ = strings.Cut(second, "```\n")
	_, second, _ = strings.Cut(second, "```go\n")
	second, _, _ = strings.Cut(second, "```\n")
	if code := read(t, "domains_test.go"); second == "" || !strings.Contains(code, second) {
		t.Errorf("domains_test.go has not the code of the README:\n%s", second)
	}
}
