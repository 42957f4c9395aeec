package poolswap_test

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/poolswap/poolswap"
)

// lookUp forgets its Release on one path.
func lookUp(lists *poolswap.Container[DenyList, *DenyList], host string) bool {
	list := lists.Acquire()
	if host == "" {
		return false
	}
	defer lists.Release(list)
	return len(list.hosts) > 0
}

// The next version is traced; what holds it is listed with the caller's line.
func ExamplePool_Trace() {
	pool := newDenyLists()
	pool.Trace(1)
	lists := poolswap.NewContainer(pool, &DenyList{})

	lookUp(lists, "a.example")
	lookUp(lists, "")

	for _, h := range pool.Holders() {
		fmt.Println("version", h.Version, strings.Contains(h.String(), "poolswap_test.lookUp"))
	}
	// Output: version 1 true
}

// In a running service Trace(-1) costs too much; HeldTooLong traces by itself once a
// version is held for too long.
func ExamplePool_Holders() {
	pool := poolswap.NewPoolWithOptions(
		func() *DenyList { return &DenyList{} },
		func(d *DenyList) bool { d.hosts = d.hosts[:0]; return true },
		poolswap.Options[DenyList]{HeldTooLong: time.Nanosecond})
	lists := poolswap.NewContainer(pool, &DenyList{})
	for range 3 {
		lookUp(lists, "") // forgets a Release in each version
		lists.Update(lists.GetNew())
	}
	for _, h := range pool.Holders() {
		fmt.Println("version", h.Version, strings.Contains(h.String(), "poolswap_test.lookUp"))
	}
	// Output: version 3 true
}

// A Holder prints as a stack trace.
func ExampleHolder() {
	pool := newDenyLists()
	pool.Trace(1)
	lists := poolswap.NewContainer(pool, &DenyList{})
	lookUp(lists, "")

	text := pool.Holders()[0].String()
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "\tgithub.com/poolswap/poolswap_test.") {
			fmt.Println(strings.TrimSpace(line))
		}
	}
	// Output:
	// github.com/poolswap/poolswap_test.lookUp
	// github.com/poolswap/poolswap_test.ExampleHolder
}

// Options.Report receives it from the first publication that finds a version held for
// longer than Options.HeldTooLong.
func ExampleHeldTooLongError() {
	pool := poolswap.NewPoolWithOptions(
		func() *DenyList { return &DenyList{} }, nil,
		poolswap.Options[DenyList]{
			HeldTooLong: time.Nanosecond, // a minute, in a service
			Report: func(err error) {
				var late *poolswap.HeldTooLongError
				if errors.As(err, &late) {
					fmt.Println("version", late.Version, "is held by", late.References)
				}
			},
		})
	lists := poolswap.NewContainer(pool, &DenyList{})
	lookUp(lists, "")
	lists.Update(lists.GetNew()) // replaces it
	lists.Update(lists.GetNew()) // finds that it is held
	// Output: version 1 is held by 1
}
