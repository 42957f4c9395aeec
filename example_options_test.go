package poolswap_test

import (
	"errors"
	"fmt"
	"runtime"

	"github.com/poolswap/poolswap"
)

// The default follows the work: five objects are filled at a time here.
func ExampleDefaultSpares() {
	pool := newDenyLists()
	fmt.Println(pool.Stats().SpareLimit == poolswap.DefaultSpares)
	var lists []*DenyList
	for range 5 {
		lists = append(lists, pool.Get())
	}
	for _, list := range lists {
		pool.Release(list)
	}
	fmt.Println(pool.Stats().Spares, "spares")
	// Output:
	// true
	// 5 spares
}

func ExampleNoSpares() {
	pool := poolswap.NewPoolWithOptions(
		func() *DenyList { return new(DenyList) }, nil,
		poolswap.Options[DenyList]{Spares: poolswap.NoSpares})
	pool.Release(pool.Get())
	fmt.Println(pool.Stats().Spares)
	// Output: 0
}

// One object is current and a reader holds another, so a MaxLive of 2 leaves
// none to fill.
func ExampleErrLimit() {
	pool := poolswap.NewPoolWithOptions(
		func() *DenyList { return new(DenyList) }, nil,
		poolswap.Options[DenyList]{MaxLive: 2})
	lists := poolswap.NewContainer(pool, pool.Get())
	old := lists.Acquire()
	lists.Update(pool.Get())
	if _, err := pool.TryGet(); errors.Is(err, poolswap.ErrLimit) {
		fmt.Println("a reader still holds the old list: the current one stays")
	}
	lists.Release(old)
	// Output: a reader still holds the old list: the current one stays
}

// A forgotten Release costs one object. Report receives a Leak when the garbage
// collector has found it.
func ExampleLeak() {
	reports := make(chan error, 1)
	pool := poolswap.NewPoolWithOptions(
		func() *DenyList { return new(DenyList) }, nil,
		poolswap.Options[DenyList]{Report: func(err error) { reports <- err }})
	lists := poolswap.NewContainer(pool, pool.Get())
	lists.Acquire() // and no Release
	lists.Update(pool.Get())

	var err error
	for err == nil {
		runtime.GC()
		select {
		case err = <-reports:
		default:
		}
	}
	var leak *poolswap.Leak
	if errors.As(err, &leak) {
		fmt.Println(leak.Type, leak.Held)
	}
	fmt.Println(pool.Stats().Leaked, "leak")
	// Output:
	// *poolswap_test.DenyList 1
	// 1 leak
}

func ExampleLeak_Error() {
	fmt.Println(&poolswap.Leak{Type: "*main.DenyList", Held: 1})
	// Output: poolswap: a *main.DenyList was dropped with 1 references never released (a forgotten Release or Close?)
}

// A Release too many is found by the writer that replaces the object. With a
// Report the writer goes on.
func ExampleOverRelease() {
	pool := poolswap.NewPoolWithOptions(
		func() *DenyList { return new(DenyList) }, nil,
		poolswap.Options[DenyList]{Report: func(err error) {
			var over *poolswap.OverRelease
			if errors.As(err, &over) {
				fmt.Println(over.Type, "acquired", over.Acquired, "released", over.Released)
			}
		}})
	lists := poolswap.NewContainer(pool, pool.Get())
	list := lists.Acquire()
	lists.Release(list)
	lists.Release(list)
	lists.Update(pool.Get())
	fmt.Println(pool.Stats().Lost, "object is lost")
	// Output:
	// *poolswap_test.DenyList acquired 1 released 2
	// 1 object is lost
}

func ExampleOverRelease_Error() {
	fmt.Println(&poolswap.OverRelease{Type: "*main.DenyList", Object: 0xc0000100, Generation: 4, Acquired: 7, Released: 8})
	// Output: poolswap: Release of a *main.DenyList more often than it was acquired: 1 too many (released twice, released after Update, or Release of what a Reader returned?) [object 0xc0000100, generation 4, acquired 7 times, released 8 times]
}

// If a reader was the last holder, a panic in reset ends the process, unless
// there is a Report.
func ExampleHookPanic() {
	reports := make(chan error)
	pool := poolswap.NewPoolWithOptions(
		func() *DenyList { return new(DenyList) },
		func(*DenyList) bool { panic("cannot reset") },
		poolswap.Options[DenyList]{Report: func(err error) { reports <- err }})
	lists := poolswap.NewContainer(pool, pool.Get())
	list := lists.Acquire()
	lists.Update(nil)
	lists.Release(list)

	var hook *poolswap.HookPanic
	if err := <-reports; errors.As(err, &hook) {
		fmt.Println(hook.Value, len(hook.Stack) > 0)
	}
	fmt.Println(pool.Stats().Lost, "object is lost")
	// Output:
	// cannot reset true
	// 1 object is lost
}

func ExampleHookPanic_Error() {
	fmt.Println(&poolswap.HookPanic{Value: "cannot reset"})
	// Output: poolswap: reset or Discard panicked: cannot reset
}

func ExampleHookPanic_Unwrap() {
	errFull := errors.New("disk full")
	var err error = &poolswap.HookPanic{Value: errFull}
	fmt.Println(errors.Is(err, errFull))
	// Output: true
}
