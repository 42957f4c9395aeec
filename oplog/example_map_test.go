package oplog_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/oplog"
)

type Limits struct {
	perUser *oplog.Map[string, int] // requests a second
}

func NewLimits() (*Limits, error) {
	perUser, err := oplog.NewMap(oplog.MapConfig[string, int]{})
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

func newPorts() *oplog.Map[string, int] { return must(oplog.NewMap(oplog.MapConfig[string, int]{})) }

func ExampleMap() {
	ctx := context.Background()
	ports := newPorts()
	_, _ = ports.Set(ctx, "a.example", 80)
	_, _ = ports.Set(ctx, "a.example", 443)
	fmt.Println(ports.Get("a.example"))
	// Output: 443 true
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

func ExampleNewMap() {
	ports, err := oplog.NewMap(oplog.MapConfig[string, int]{})
	fmt.Println(err)
	fmt.Println(ports.Get("a.example"))
	// Output:
	// <nil>
	// 0 false
}

// A Map alternates between two objects, so it cannot do with one.
func ExampleMapConfig() {
	_, err := oplog.NewMap(oplog.MapConfig[string, int]{
		Keep: 1000,
		Pool: poolswap.Options[oplog.View[string, int]]{MaxLive: 1},
	})
	fmt.Println(err)
	// Output: oplog: Config.Pool.MaxLive is 1, but one object is current and one is changed
}

// Set returns the version that has the value.
func ExampleMap_Set() {
	ports := newPorts()
	version, err := ports.Set(context.Background(), "a.example", 80)
	fmt.Println(version == ports.Container().Version(), err)
	// Output: true <nil>
}

func ExampleMap_Delete() {
	ctx := context.Background()
	ports := newPorts()
	_, _ = ports.Set(ctx, "a.example", 80)
	_, _ = ports.Delete(ctx, "a.example")
	fmt.Println(ports.Get("a.example"))
	// Output: 0 false
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

// A name for the type spares its parameters.
func ExampleChange() {
	type change = oplog.Change[string, int]
	batch := []change{{Key: "a.example", Value: 80}, {Key: "a.example", Delete: true}}
	ports := newPorts()
	_, err := ports.Publish(context.Background(), batch...)
	fmt.Println(err)
	fmt.Println(ports.Get("a.example"))
	// Output:
	// <nil>
	// 0 false
}

// What fill does not set is gone. If it fails, the map is as it was.
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

func ExampleMap_Get() {
	ports := newPorts()
	_, _ = ports.Set(context.Background(), "a.example", 80)
	fmt.Println(ports.Get("a.example"))
	fmt.Println(ports.Get("b.example"))
	// Output:
	// 80 true
	// 0 false
}

// A subscriber is told of each version that it is there to see.
func ExampleMap_Container() {
	ctx := context.Background()
	ports := newPorts()
	_, _ = ports.Set(ctx, "a.example", 80)
	for _, view := range ports.Container().Versions(ctx) {
		fmt.Println(view.Len(), "hosts")
		break
	}
	// Output: 1 hosts
}

// The Log of a Map has its counts, its pool, and what Verify looks at.
func ExampleMap_Log() {
	ctx := context.Background()
	ports := newPorts()
	for i := range 10 {
		_, _ = ports.Set(ctx, "a.example", i)
	}
	fmt.Println(ports.Log().Stats().Operations, "operations")
	fmt.Println(oplog.Verify(ports.Log(), func(a, b *oplog.View[string, int]) bool {
		return maps.Equal(maps.Collect(a.All()), maps.Collect(b.All()))
	}))
	fmt.Println(ports.Log().Pool().Close(ctx))
	// Output:
	// 10 operations
	// <nil>
	// <nil>
}

// A View does not change while it is held.
func ExampleView() {
	ctx := context.Background()
	ports := newPorts()
	_, _ = ports.Set(ctx, "a.example", 80)
	view := ports.Container().Acquire()
	defer ports.Container().Release(view)
	_, _ = ports.Set(ctx, "a.example", 443)
	fmt.Println(view.Get("a.example"))
	fmt.Println(ports.Get("a.example"))
	// Output:
	// 80 true
	// 443 true
}

func ExampleView_Get() {
	ports := newPorts()
	_, _ = ports.Set(context.Background(), "a.example", 80)
	ports.Container().WithAcquire(func(v *oplog.View[string, int]) {
		fmt.Println(v.Get("a.example"))
		fmt.Println(v.Get("b.example"))
	})
	// Output:
	// 80 true
	// 0 false
}

func ExampleView_Len() {
	ports := newPorts()
	_, _ = ports.Set(context.Background(), "a.example", 80)
	ports.Container().WithAcquire(func(v *oplog.View[string, int]) { fmt.Println(v.Len()) })
	// Output: 1
}

// All yields the keys in no particular order.
func ExampleView_All() {
	ctx := context.Background()
	ports := newPorts()
	_, _ = ports.Set(ctx, "b.example", 443)
	_, _ = ports.Set(ctx, "a.example", 80)
	ports.Container().WithAcquire(func(v *oplog.View[string, int]) {
		hosts := maps.Collect(v.All())
		for _, host := range slices.Sorted(maps.Keys(hosts)) {
			fmt.Println(host, hosts[host])
		}
	})
	// Output:
	// a.example 80
	// b.example 443
}

// The version of a View is that under which it was published, also when a later
// one is current.
func ExampleView_EqualFunc() {
	ports := newPorts()
	_, _ = ports.Set(context.Background(), "a.example", 80)
	fmt.Println(oplog.Verify(ports.Log(), func(a, b *oplog.View[string, int]) bool {
		return a.EqualFunc(b, func(a, b int) bool { return a == b })
	}))
	// Output: <nil>
}

func ExampleView_Version() {
	ctx := context.Background()
	ports := newPorts()
	first, _ := ports.Set(ctx, "a.example", 80)
	view := ports.Container().Acquire()
	defer ports.Container().Release(view)
	second, _ := ports.Set(ctx, "a.example", 443)
	fmt.Println(view.Version() == first, ports.Container().Version() == second)
	// Output: true true
}
