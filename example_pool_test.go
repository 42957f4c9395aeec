package poolswap_test

import (
	"bytes"
	"errors"
	"fmt"
	"runtime"

	"github.com/poolswap/poolswap"
)

// Two containers may share a pool: an object that one gives up serves the other.
func ExamplePool() {
	pool := newDenyLists()
	hosts := poolswap.NewContainer(pool, &DenyList{hosts: []string{"a.example"}})
	users := poolswap.NewContainer(pool, &DenyList{hosts: []string{"mallory"}})

	hosts.Update(nil)
	next := pool.Get() // the object that hosts gave up
	next.hosts = append(next.hosts, "trudy")
	users.Update(next)

	users.WithAcquire(func(list *DenyList) { fmt.Println(list.hosts) })
	fmt.Println(pool.Stats().Created, "objects were made by the factory")
	// Output:
	// [trudy]
	// 0 objects were made by the factory
}

// Reset empties an object and keeps its memory. It refuses an object that has
// grown out of proportion.
func ExampleNewPool() {
	pool := poolswap.NewPool(
		func() *DenyList { return &DenyList{hosts: make([]string, 0, 8)} },
		func(d *DenyList) bool {
			d.hosts = d.hosts[:0]
			return cap(d.hosts) <= 1000
		})
	small, large := pool.Get(), pool.Get()
	large.hosts = make([]string, 5000)
	pool.Release(small)
	pool.Release(large)
	fmt.Println(pool.Stats().Spares, "kept,", pool.Stats().Discarded, "discarded")
	// Output: 1 kept, 1 discarded
}

func ExampleNewPoolWithOptions() {
	pool := poolswap.NewPoolWithOptions(
		func() *DenyList { return new(DenyList) },
		nil, // nothing to reset
		poolswap.Options[DenyList]{
			Spares:  1,
			Discard: func(d *DenyList) { fmt.Println("discarded:", d.hosts) },
		})
	first, second := pool.Get(), pool.Get()
	second.hosts = []string{"b.example"}
	pool.Release(first)  // becomes the spare
	pool.Release(second) // is one too many
	// Output: discarded: [b.example]
}

// An object that owns something which the garbage collector does not free
// gives it back in Discard.
func ExampleOptions() {
	options := poolswap.Options[DenyList]{
		Spares:  poolswap.NoSpares,
		Discard: func(*DenyList) { fmt.Println("closed") },
		Report:  func(err error) { fmt.Println("something is wrong:", err) },
	}
	pool := poolswap.NewPoolWithOptions(func() *DenyList { return new(DenyList) }, nil, options)
	lists := poolswap.NewContainer(pool, pool.Get())
	fmt.Println("update")
	lists.Update(pool.Get())
	fmt.Println("end")
	lists.Update(nil)
	// Output:
	// update
	// closed
	// end
	// closed
}

func ExamplePool_Get() {
	pool := newDenyLists()
	list := pool.Get()
	list.hosts = append(list.hosts, "a.example")
	lists := poolswap.NewContainer(pool, list) // publishes it, as Update does
	lists.WithAcquire(func(list *DenyList) { fmt.Println(list.hosts) })
	// Output: [a.example]
}

// An object that is not published after all goes back to the pool.
func ExamplePool_Release() {
	pool := newDenyLists()
	list := pool.Get()
	list.hosts = append(list.hosts, "half a li")
	pool.Release(list)
	fmt.Println(pool.Get() == list, len(list.hosts))
	// Output: true 0
}

// With a limit, a writer that outruns its readers gets an error instead of ever
// more memory.
func ExamplePool_TryGet() {
	pool := poolswap.NewPoolWithOptions(
		func() *DenyList { return new(DenyList) }, nil,
		poolswap.Options[DenyList]{MaxLive: 2})
	lists := poolswap.NewContainer(pool, pool.Get())
	slow := lists.Acquire()
	lists.Update(pool.Get())

	_, err := pool.TryGet()
	fmt.Println(err)
	lists.Release(slow)
	_, err = pool.TryGet()
	fmt.Println(err)
	// Output:
	// poolswap: as many objects exist as Options.MaxLive allows, and none is free
	// <nil>
}

func ExamplePool_Trim() {
	pool := newDenyLists()
	lists := poolswap.NewContainer(pool, pool.Get())
	lists.Update(pool.Get())
	fmt.Println(pool.Stats().Spares, "spare")
	pool.Trim()
	fmt.Println(pool.Stats().Spares, "spares")
	// Output:
	// 1 spare
	// 0 spares
}

func ExamplePool_Refs() {
	pool := newDenyLists()
	lists := poolswap.NewContainer(pool, pool.Get())
	list := lists.Acquire()
	fmt.Println(pool.Refs(list))
	lists.Release(list)
	fmt.Println(pool.Refs(list))
	// Output:
	// 1
	// 0
}

// A test of a program that uses containers checks the accounts at its end.
func ExamplePool_Stats() {
	pool := newDenyLists()
	lists := poolswap.NewContainer(pool, pool.Get())
	forgotten := lists.Acquire()
	lists.Update(pool.Get())
	fmt.Println(pool.Stats().Retired, "old object is still held")
	lists.Release(forgotten)
	fmt.Println(pool.Stats().Retired, "old objects are still held")
	// Output:
	// 1 old object is still held
	// 0 old objects are still held
}

func ExampleStats() {
	pool := newDenyLists()
	lists := poolswap.NewContainer(pool, &DenyList{hosts: []string{"a.example"}})
	for range 10 {
		lists.Update(pool.Get())
	}
	stats := pool.Stats()
	fmt.Println("updates", stats.Updates)
	fmt.Println("created", stats.Created, "adopted", stats.Adopted)
	fmt.Println("live", stats.Live, "current", stats.Current, "spares", stats.Spares)
	// Output:
	// updates 11
	// created 1 adopted 1
	// live 2 current 1 spares 1
}

// A Box makes a type poolable to which no field can be added.
func ExampleBox() {
	pool := poolswap.NewPool(
		func() *poolswap.Box[bytes.Buffer] { return new(poolswap.Box[bytes.Buffer]) },
		func(b *poolswap.Box[bytes.Buffer]) bool { b.Value.Reset(); return true })
	pages := poolswap.NewEmptyContainer(pool)

	next := pages.GetNew()
	next.Value.WriteString("<h1>hello</h1>")
	pages.Update(next)

	page := pages.Acquire()
	defer pages.Release(page)
	fmt.Println(page.Value.String())
	// Output: <h1>hello</h1>
}

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

// A forgotten Release costs one object. Report receives a LeakError when the garbage
// collector has found it.
func ExampleLeakError() {
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
	var leak *poolswap.LeakError
	if errors.As(err, &leak) {
		fmt.Println(leak.Type, leak.Held)
	}
	fmt.Println(pool.Stats().Leaked, "leak")
	// Output:
	// *poolswap_test.DenyList 1
	// 1 leak
}

func ExampleLeakError_Error() {
	fmt.Println(&poolswap.LeakError{Type: "*main.DenyList", Held: 1})
	// Output: poolswap: a *main.DenyList was dropped with 1 references never released (a forgotten Release or Close?)
}

// A Release too many is found by the writer that replaces the object. With a
// Report the writer goes on.
func ExampleOverReleaseError() {
	pool := poolswap.NewPoolWithOptions(
		func() *DenyList { return new(DenyList) }, nil,
		poolswap.Options[DenyList]{Report: func(err error) {
			var over *poolswap.OverReleaseError
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

func ExampleOverReleaseError_Error() {
	fmt.Println(&poolswap.OverReleaseError{Type: "*main.DenyList", Object: 0xc0000100, Generation: 4, Acquired: 7, Released: 8})
	// Output: poolswap: Release of a *main.DenyList more often than it was acquired: 1 too many (released twice, released after Update, or Release of a Reader's object?) [object 0xc0000100, generation 4, acquired 7 times, released 8 times]
}

// If a reader was the last holder, a panic in reset ends the process, unless
// there is a Report.
func ExampleHookPanicError() {
	reports := make(chan error)
	pool := poolswap.NewPoolWithOptions(
		func() *DenyList { return new(DenyList) },
		func(*DenyList) bool { panic("cannot reset") },
		poolswap.Options[DenyList]{Report: func(err error) { reports <- err }})
	lists := poolswap.NewContainer(pool, pool.Get())
	list := lists.Acquire()
	lists.Update(nil)
	lists.Release(list)

	var hook *poolswap.HookPanicError
	if err := <-reports; errors.As(err, &hook) {
		fmt.Println(hook.Value, len(hook.Stack) > 0)
	}
	fmt.Println(pool.Stats().Lost, "object is lost")
	// Output:
	// cannot reset true
	// 1 object is lost
}

func ExampleHookPanicError_Error() {
	fmt.Println(&poolswap.HookPanicError{Hook: "reset or Discard of a *Table", Value: "cannot reset"})
	// Output: poolswap: reset or Discard of a *Table: panic: cannot reset
}

func ExampleHookPanicError_Unwrap() {
	errFull := errors.New("disk full")
	var err error = &poolswap.HookPanicError{Value: errFull}
	fmt.Println(errors.Is(err, errFull))
	// Output: true
}
