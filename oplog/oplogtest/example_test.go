package oplogtest_test

import (
	"context"
	"fmt"
	"maps"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/oplog"
	"github.com/poolswap/poolswap/oplog/oplogtest"
)

type ports struct {
	poolswap.Ref
	of map[string]int
}

type change struct {
	host string
	port int
}

// Verify finds an Apply that does not do the same to every object.
func ExampleVerify() {
	calls := 0
	right := func(p *ports, op change) error { p.of[op.host] = op.port; return nil }
	wrong := func(p *ports, op change) error {
		calls++ // the result depends on more than p and op
		p.of[op.host] = op.port + calls
		return nil
	}
	for _, apply := range []func(*ports, change) error{right, wrong} {
		log, err := oplog.New[ports, *ports](oplog.Options[ports, change]{
			New:   func() *ports { return &ports{of: map[string]int{}} },
			Apply: apply,
			Copy:  func(dst, src *ports) error { dst.of = maps.Clone(src.of); return nil },
			Reset: func(p *ports) { clear(p.of) },
		})
		if err != nil {
			fmt.Println(err)
			return
		}
		for port := range 2 {
			_, _ = log.Publish(context.Background(), change{"a.example", port})
		}
		fmt.Println(oplogtest.Verify(log, func(a, b *ports) bool { return maps.Equal(a.of, b.of) }))
	}
	// Output:
	// <nil>
	// oplogtest: an object of version 2, brought up, differs from the current one of version 3
}
