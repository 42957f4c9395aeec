package oplog_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/oplog"
)

type Limits struct {
	perUser *oplog.Map[string, int] // requests a second
}

func NewLimits() (*Limits, error) {
	perUser, err := oplog.NewMap(oplog.MapOptions[string, int]{})
	if err != nil {
		return nil, err
	}
	return &Limits{perUser}, nil
}

func (l *Limits) allow(ctx context.Context, user string, limit int) error {
	_, err := l.perUser.Set(ctx, user, limit)
	return err
}

func (l *Limits) of(users ...string) (limits []int) {
	view := l.perUser.Container().Acquire()
	if view == nil { // closed
		return nil
	}
	defer l.perUser.Container().Release(view) // until then all answers are of one version
	for _, user := range users {
		limit, _ := view.Get(user)
		limits = append(limits, limit)
	}
	return limits
}

// A service changes the limit of one user at a time.
func Example_map() {
	ctx := context.Background()
	limits, err := NewLimits()
	if err != nil {
		fmt.Println(err)
		return
	}
	_ = limits.allow(ctx, "ann", 10)
	_ = limits.allow(ctx, "bob", 20)
	fmt.Println(limits.of("ann", "bob", "eve"))
	_ = limits.perUser.Container().Close(ctx)
	fmt.Println(limits.of("ann", "bob", "eve"), limits.allow(ctx, "eve", 1))
	// Output:
	// [10 20 0]
	// [] poolswap: the container or the pool is closed
}

func newPorts() *oplog.Map[string, int] { return must(oplog.NewMap(oplog.MapOptions[string, int]{})) }

// A View is one version: it does not change while a reader holds it.
func ExampleMap() {
	ctx := context.Background()
	ports := newPorts()
	first, _ := ports.Set(ctx, "a.example", 80)
	view := ports.Container().Acquire()
	defer ports.Container().Release(view)
	_, _ = ports.Set(ctx, "a.example", 443)
	_, _ = ports.Set(ctx, "b.example", 80)
	_, _ = ports.Delete(ctx, "b.example")
	fmt.Println(ports.Get("a.example"))
	fmt.Println(view.Get("a.example"))
	fmt.Println(view.Len(), maps.Collect(view.All()), view.Version() == first)
	now := ports.Container().Acquire()
	defer ports.Container().Release(now)
	fmt.Println(now.EqualFunc(view, func(a, b int) bool { return a == b }))
	fmt.Println(ports.Log().Stats().Operations, "operations")
	// Output:
	// 443 true
	// 80 true
	// 1 map[a.example:80] true
	// false
	// 4 operations
}

// Two goroutines that count lose nothing.
func ExampleMap_PublishFunc() {
	ctx := context.Background()
	visits := newPorts()
	count := func(now *oplog.View[string, int]) ([]oplog.Change[string, int], error) {
		n, _ := now.Get("home")
		return []oplog.Change[string, int]{{Key: "home", Value: n + 1}}, nil
	}
	var counting sync.WaitGroup
	for range 2 {
		counting.Go(func() {
			for range 100 {
				_, _ = visits.PublishFunc(ctx, count)
			}
		})
	}
	counting.Wait()
	fmt.Println(visits.Get("home"))
	// Output: 200 true
}

// A Map alternates between two objects, so it cannot do with one.
func ExampleMapOptions() {
	_, err := oplog.NewMap(oplog.MapOptions[string, int]{
		Keep: 1000,
		Pool: poolswap.Options[oplog.View[string, int]]{MaxLive: 1},
	})
	fmt.Println(err)
	// Output: oplog: Options.Pool.MaxLive is 1, but one object is current and one is changed
}

// Changes that belong together are one batch, which no reader sees half of.
func ExampleMap_Publish() {
	ctx := context.Background()
	ports := newPorts()
	_, _ = ports.Set(ctx, "old.example", 80)
	_, _ = ports.Publish(ctx,
		oplog.Change[string, int]{Key: "new.example", Value: 80},
		oplog.Change[string, int]{Key: "old.example", Delete: true})
	ports.Container().WithAcquire(func(v *oplog.View[string, int]) { fmt.Println(maps.Collect(v.All())) })
	// Output: map[new.example:80]
}

// Keys that fill does not set are gone. If fill fails, the map is unchanged.
func ExampleMap_Replace() {
	ctx := context.Background()
	ports := newPorts()
	_, _ = ports.Set(ctx, "old.example", 80)
	_, err := ports.Replace(ctx, func(set func(string, int)) error {
		set("new.example", 443)
		return errors.New("the connection was lost")
	})
	fmt.Println(err)
	fmt.Println(ports.Get("old.example"))
	_, err = ports.Replace(ctx, func(set func(string, int)) error {
		set("new.example", 443)
		return nil
	})
	fmt.Println(err)
	fmt.Println(ports.Get("old.example"))
	// Output:
	// the connection was lost
	// 80 true
	// <nil>
	// 0 false
}
