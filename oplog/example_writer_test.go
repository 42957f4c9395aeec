package oplog_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/poolswap/poolswap/oplog"
)

type ports = oplog.View[string, int]

// claimedPorts returns a map and its Writer.
func claimedPorts() (*oplog.Map[string, int], *oplog.Writer[ports, *ports, oplog.Change[string, int]]) {
	m, err := oplog.NewMap(oplog.MapOptions[string, int]{})
	if err != nil {
		panic(err)
	}
	writer, err := m.Log().Claim()
	if err != nil {
		panic(err)
	}
	return m, writer
}

// A Writer makes all content, and then changes one version of it.
func ExampleWriter() {
	ctx := context.Background()
	m, writer := claimedPorts()
	version, err := writer.Replace(ctx, func(_, _ *ports, apply func(oplog.Change[string, int]) error) error {
		return errors.Join(apply(oplog.Change[string, int]{Key: "http", Value: 80}), apply(oplog.Change[string, int]{Key: "ssh", Value: 22}))
	})
	fmt.Println(version != 0, err)
	many := func(next, _ *ports) error {
		if next.Len() < 2 {
			return fmt.Errorf("%d ports are left", next.Len())
		}
		return nil
	}
	_, err = writer.Publish(ctx, version, []oplog.Change[string, int]{{Key: "ssh", Delete: true}}, many)
	fmt.Println(err)
	_, err = writer.Publish(ctx, version, []oplog.Change[string, int]{{Key: "ssh", Value: 2222}}, many)
	port, _ := m.Get("ssh")
	fmt.Println(err, port)
	// Output:
	// true <nil>
	// 1 ports are left
	// <nil> 2222
}

// A map that follows an origin has no second publisher.
func ExampleErrClaimed() {
	m, _ := claimedPorts()
	_, err := m.Set(context.Background(), "http", 8080)
	fmt.Println(err == oplog.ErrClaimed)
	// Output: true
}

func ExampleLog_Claim() {
	m, _ := claimedPorts()
	_, err := m.Log().Claim()
	fmt.Println(err)
	// Output: oplog: the Log has a Writer, which alone may publish
}
