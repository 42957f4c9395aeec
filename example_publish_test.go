package poolswap_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/poolswap/poolswap"
)

// Names is the object of the examples of the writer's side.
type Names struct {
	poolswap.Ref
	list []string
}

func newNames(options poolswap.Options[Names]) *poolswap.Pool[Names, *Names] {
	return poolswap.NewPoolWithOptions(
		func() *Names { return new(Names) },
		func(n *Names) bool { n.list = n.list[:0]; return true },
		options)
}

// add returns a fill that adds a name to those that are current.
func add(name string) func(next, current *Names) error {
	return func(next, current *Names) error {
		if name == "" {
			return errors.New("an empty name")
		}
		if current != nil {
			next.list = append(next.list, current.list...)
		}
		next.list = append(next.list, name)
		return nil
	}
}

func ExampleContainer_Publish() {
	names := poolswap.NewEmptyContainer(newNames(poolswap.Options[Names]{}))
	ctx := context.Background()
	for _, name := range []string{"ada", "", "grace"} {
		version, err := names.Publish(ctx, add(name))
		fmt.Println(version, err)
	}
	names.WithAcquire(func(n *Names) { fmt.Println(n.list) })
	// Output:
	// 1 <nil>
	// 0 an empty name
	// 2 <nil>
	// [ada grace]
}

func ExampleContainer_Version() {
	names := poolswap.NewEmptyContainer(newNames(poolswap.Options[Names]{}))
	before := names.Version()
	names.Publish(context.Background(), add("ada"))
	fmt.Println(before, names.Version() > before)
	// Output: 0 true
}

// A cache remembers the version that it was made from.
func ExampleContainer_VersionOf() {
	names := poolswap.NewEmptyContainer(newNames(poolswap.Options[Names]{}))
	ctx := context.Background()
	var joined string
	var madeFrom uint64
	show := func() {
		n := names.Acquire()
		defer names.Release(n)
		if version := names.VersionOf(n); version != madeFrom {
			joined, madeFrom = strings.Join(n.list, ", "), version
			fmt.Print("joined again: ")
		}
		fmt.Println(joined)
	}
	names.Publish(ctx, add("ada"))
	show()
	show()
	names.Publish(ctx, add("grace"))
	show()
	// Output:
	// joined again: ada
	// ada
	// joined again: ada, grace
}

func ExampleContainer_Changed() {
	names := poolswap.NewEmptyContainer(newNames(poolswap.Options[Names]{}))
	changed := names.Changed(names.Version())
	go names.Publish(context.Background(), add("ada"))
	select {
	case <-changed:
		fmt.Println("version", names.Version())
	case <-time.After(time.Minute):
		fmt.Println("nothing for a minute")
	}
	// Output: version 1
}

// Wait(ctx, 0) waits for the first version.
func ExampleContainer_Wait() {
	names := poolswap.NewEmptyContainer(newNames(poolswap.Options[Names]{}))
	go names.Publish(context.Background(), add("ada"))
	version, err := names.Wait(context.Background(), 0)
	fmt.Println(version, err)
	// Output: 1 <nil>
}

func ExampleContainer_Versions() {
	names := poolswap.NewEmptyContainer(newNames(poolswap.Options[Names]{}))
	ctx := context.Background()
	names.Publish(ctx, add("ada"))
	for version, n := range names.Versions(ctx) {
		fmt.Println(version, n.list)
		if version == 2 {
			break
		}
		names.Publish(ctx, add("grace"))
	}
	// Output:
	// 1 [ada]
	// 2 [ada grace]
}

// One version is handed to two goroutines, each of which releases it.
func ExampleContainer_Retain() {
	names := poolswap.NewEmptyContainer(newNames(poolswap.Options[Names]{}))
	names.Publish(context.Background(), add("ada"))
	n := names.Acquire()
	lengths := make(chan int)
	for range 2 {
		go func(n *Names) {
			defer names.Release(n)
			lengths <- len(n.list[0])
		}(names.Retain(n))
	}
	names.Release(n)
	fmt.Println(<-lengths, <-lengths)
	// Output: 3 3
}

func ExampleContainer_Close() {
	names := poolswap.NewEmptyContainer(newNames(poolswap.Options[Names]{}))
	ctx := context.Background()
	names.Publish(ctx, add("ada"))
	fmt.Println(names.Close(ctx), names.Acquire() == nil)
	_, err := names.Publish(ctx, add("grace"))
	fmt.Println(err)
	// Output:
	// <nil> true
	// poolswap: the container or the pool is closed
}

// A shutdown gives readers until a deadline and says who held on.
func ExamplePool_Close() {
	pool := newNames(poolswap.Options[Names]{Discard: func(*Names) { fmt.Println("discarded") }})
	names := poolswap.NewEmptyContainer(pool)
	names.Publish(context.Background(), add("ada"))
	held := names.Acquire()

	deadline, cancel := context.WithTimeout(context.Background(), time.Millisecond)
	defer cancel()
	var left *poolswap.HeldError
	if err := pool.Close(deadline); errors.As(err, &left) {
		fmt.Println(left.References, "reference to version", left.Versions[0], "is held")
	}
	names.Release(held)
	fmt.Println(pool.Close(context.Background()))
	// Output:
	// 1 reference to version 1 is held
	// discarded
	// <nil>
}

func ExamplePool_Drain() {
	pool := newNames(poolswap.Options[Names]{})
	names := poolswap.NewEmptyContainer(pool)
	ctx := context.Background()
	names.Publish(ctx, add("ada"))
	old := names.Acquire()
	names.Publish(ctx, add("grace"))
	go names.Release(old)
	fmt.Println(pool.Drain(ctx), pool.Stats().Retired)
	// Output: <nil> 0
}

func ExampleErrConflict() {
	names := poolswap.NewEmptyContainer(newNames(poolswap.Options[Names]{}))
	ctx := context.Background()
	_, err := names.Publish(ctx, func(next, current *Names) error {
		names.Update(&Names{list: []string{"from elsewhere"}})
		return add("ada")(next, current)
	})
	if err == poolswap.ErrConflict {
		_, err = names.Publish(ctx, add("ada")) // builds on the object that is current now
	}
	names.WithAcquire(func(n *Names) { fmt.Println(n.list, err) })
	// Output: [from elsewhere ada] <nil>
}

func ExampleErrClosed() {
	pool := newNames(poolswap.Options[Names]{})
	pool.Close(context.Background())
	_, err := pool.TryGet()
	fmt.Println(err == poolswap.ErrClosed)
	// Output: true
}

// overReleased is the error of a Publish whose old object was released twice.
func overReleased() error {
	names := poolswap.NewContainer(newNames(poolswap.Options[Names]{}), &Names{})
	n := names.Acquire()
	names.Release(n)
	names.Release(n) // a bug
	_, err := names.Publish(context.Background(), add("ada"))
	return err
}

func ExampleErrOverReleased() {
	fmt.Println(errors.Is(overReleased(), poolswap.ErrOverReleased))
	// Output: true
}

func ExampleOverReleaseError_Is() {
	var over *poolswap.OverReleaseError
	err := overReleased()
	fmt.Println(errors.As(err, &over), over.Is(poolswap.ErrOverReleased))
	// Output: true true
}

// heldBack is the error of a Publish that waits for an object at the limit.
func heldBack() error {
	names := poolswap.NewEmptyContainer(newNames(poolswap.Options[Names]{MaxLive: 2}))
	names.Publish(context.Background(), add("ada"))
	old := names.Acquire()
	defer names.Release(old)
	names.Publish(context.Background(), add("grace"))
	for {
		ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
		_, err := names.Publish(ctx, add("barbara"))
		cancel()
		if errors.Is(err, poolswap.ErrLimit) { // on a busy machine ctx can end before Publish waits
			return err
		}
	}
}

func ExampleHeldError() {
	err := heldBack()
	var held *poolswap.HeldError
	if errors.As(err, &held) {
		fmt.Println(held.Op, held.Objects, held.References, held.Versions, held.Current)
	}
	fmt.Println(errors.Is(err, poolswap.ErrLimit), errors.Is(err, context.DeadlineExceeded))
	// Output:
	// Publish 1 1 [1] 1
	// true true
}

func ExampleHeldError_Error() {
	names := poolswap.NewEmptyContainer(newNames(poolswap.Options[Names]{MaxLive: 1}))
	names.Publish(context.Background(), add("ada"))
	_, err := names.Publish(context.Background(), add("grace"))
	fmt.Println(err)
	// Output: poolswap: Publish: as many objects exist as Options.MaxLive allows, and none is free; current: 1 [*poolswap_test.Names]
}

func ExampleHeldError_Unwrap() {
	var held *poolswap.HeldError
	if err := heldBack(); errors.As(err, &held) {
		fmt.Println(held.Unwrap())
	}
	// Output: poolswap: as many objects exist as Options.MaxLive allows, and none is free: context deadline exceeded
}
