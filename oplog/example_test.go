package oplog_test

import (
	"context"
	"errors"
	"fmt"
	"maps"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/oplog"
)

// Routes is the object that the examples of Log publish.
type Routes struct {
	poolswap.Ref
	via map[string]string // network to gateway
}

// Route is an operation on Routes: a gateway, or none if the route goes.
type Route struct {
	Network, Via string
}

var errNoNetwork = errors.New("no network")

func applyRoute(r *Routes, op Route) error {
	switch {
	case op.Network == "":
		return errNoNetwork
	case op.Via == "":
		delete(r.via, op.Network)
	default:
		r.via[op.Network] = op.Via
	}
	return nil
}

func routesOptions() oplog.Options[Routes, Route] {
	return oplog.Options[Routes, Route]{
		New:   func() *Routes { return &Routes{via: map[string]string{}} },
		Apply: applyRoute,
		Copy: func(dst, src *Routes) error {
			clear(dst.via)
			maps.Copy(dst.via, src.via) // of strings, which Apply cannot change
			return nil
		},
		Reset: func(r *Routes) { clear(r.via) },
	}
}

// RouteLog shows how to declare a Log as a field: three type parameters.
type RouteLog struct {
	log *oplog.Log[Routes, *Routes, Route]
}

// newRoutes returns a Log of Routes.
func newRoutes() *oplog.Log[Routes, *Routes, Route] { return must(oplog.New(routesOptions())) }

// show prints the Routes that are current.
func show(log *oplog.Log[Routes, *Routes, Route]) {
	log.Container().WithAcquire(func(r *Routes) { fmt.Println(r.via) })
}

// A table of routes is changed one route at a time, under a reader.
func Example() {
	ctx := context.Background()
	routes := RouteLog{log: newRoutes()}
	defer routes.log.Pool().Close(ctx)

	_, _ = routes.log.Publish(ctx, Route{"10.0.0.0/8", "gw-1"}, Route{"192.168.0.0/16", "gw-2"})
	old := routes.log.Container().Acquire() // a reader begins
	defer routes.log.Container().Release(old)
	_, _ = routes.log.Publish(ctx, Route{"10.0.0.0/8", "gw-3"})

	fmt.Println("a reader that began before:", old.via)
	routes.log.Container().WithAcquire(func(r *Routes) { fmt.Println("a reader that begins now:", r.via) })
	// Output:
	// a reader that began before: map[10.0.0.0/8:gw-1 192.168.0.0/16:gw-2]
	// a reader that begins now: map[10.0.0.0/8:gw-3 192.168.0.0/16:gw-2]
}

func ExampleOptions() {
	options := oplog.Options[Routes, Route]{
		New:   func() *Routes { return &Routes{via: map[string]string{}} },
		Apply: applyRoute,
		Reset: func(r *Routes) { clear(r.via) },
	}
	_, err := oplog.New(options)
	fmt.Println(err)
	options.Copy = func(dst, src *Routes) error {
		clear(dst.via)
		maps.Copy(dst.via, src.via)
		return nil
	}
	_, err = oplog.New(options)
	fmt.Println(err)
	// Output:
	// oplog: Options.Copy is nil
	// <nil>
}

// An object that missed more than Keep operations is brought up by Copy.
func ExampleDefaultKeep() {
	ctx := context.Background()
	options := routesOptions()
	options.Keep = 2 // instead of DefaultKeep
	log, _ := oplog.New(options)
	fmt.Println(oplog.DefaultKeep)

	_, _ = log.Publish(ctx, Route{"10.0.0.0/8", "gw-1"})
	copies := log.Stats().Copies
	_, _ = log.Publish(ctx, Route{"10.0.0.0/8", "gw-2"}, Route{"10.1.0.0/16", "gw-2"}, Route{"10.2.0.0/16", "gw-2"})
	fmt.Println(log.Stats().Copies-copies, "copies, kept:", log.Stats().Kept)
	_, _ = log.Publish(ctx, Route{"10.0.0.0/8", "gw-3"}) // into an object that missed three
	fmt.Println(log.Stats().Copies-copies, "copies, kept:", log.Stats().Kept)
	// Output:
	// 16384
	// 0 copies, kept: 0
	// 1 copies, kept: 1
}

// A gateway is taken over by another one, for each route that has it now.
func ExampleLog_PublishFunc() {
	ctx := context.Background()
	routes := newRoutes()
	_, _ = routes.Publish(ctx, Route{"10.0.0.0/8", "gw-1"}, Route{"192.168.0.0/16", "gw-2"})
	_, _ = routes.PublishFunc(ctx, func(current *Routes) (ops []Route, err error) {
		for network, via := range current.via {
			if via == "gw-1" {
				ops = append(ops, Route{network, "gw-9"})
			}
		}
		return ops, nil
	})
	show(routes)
	// Output: map[10.0.0.0/8:gw-9 192.168.0.0/16:gw-2]
}

// Replace publishes content that fill makes from nothing.
func ExampleLog_Replace() {
	ctx := context.Background()
	log := newRoutes()
	_, _ = log.Publish(ctx, Route{"10.0.0.0/8", "gw-1"})
	_, err := log.Replace(ctx, func(next *Routes) error {
		next.via["192.168.0.0/16"] = "gw-2"
		return nil
	})
	fmt.Println(err)
	show(log)
	// Output:
	// <nil>
	// map[192.168.0.0/16:gw-2]
}

// After a Replace each other object is brought up by Copy once.
func ExampleStats() {
	ctx := context.Background()
	log := newRoutes()
	_, _ = log.Replace(ctx, func(next *Routes) error {
		next.via["10.0.0.0/8"] = "gw-1"
		return nil
	})
	before := log.Stats()
	for range 3 {
		_, _ = log.Publish(ctx, Route{"10.0.0.0/8", "gw-2"})
	}
	after := log.Stats()
	fmt.Println(after.Operations, "operations were applied", after.Applied, "times")
	fmt.Println("restarts:", after.Restarts)
	fmt.Println("copies:", after.Copies-before.Copies, "caught up:", after.CatchUps-before.CatchUps)
	// Output:
	// 3 operations were applied 5 times
	// restarts: 1
	// copies: 1 caught up: 2
}

// An operation that fails is named by its index, and nothing is published.
func ExampleApplyError() {
	ctx := context.Background()
	log := newRoutes()
	ops := []Route{{"10.0.0.0/8", "gw-1"}, {"", "gw-2"}, {"10.1.0.0/16", "gw-3"}}
	_, err := log.Publish(ctx, ops...)
	var failed *oplog.ApplyError
	if errors.Is(err, errNoNetwork) && errors.As(err, &failed) && failed.Missed == 0 {
		fmt.Println(err)
		fmt.Println("rejected:", ops[failed.Index])
		ops = append(ops[:failed.Index], ops[failed.Index+1:]...)
		_, err = log.Publish(ctx, ops...)
	}
	fmt.Println(err)
	show(log)
	// Output:
	// oplog: operation 1: no network
	// rejected: { gw-2}
	// <nil>
	// map[10.0.0.0/8:gw-1 10.1.0.0/16:gw-3]
}

// must returns value. It panics if err is not nil, as with wrong options.
func must[V any](value V, err error) V {
	if err != nil {
		panic(err)
	}
	return value
}
