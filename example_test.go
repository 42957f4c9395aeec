package poolswap_test

import (
	"fmt"
	"slices"

	"github.com/poolswap/poolswap"
)

// DenyList is the heavy object of the examples.
type DenyList struct {
	poolswap.Ref
	hosts []string
}

// newDenyLists returns a pool of deny lists that keep their memory.
func newDenyLists() *poolswap.Pool[DenyList, *DenyList] {
	return poolswap.NewPool(
		func() *DenyList { return new(DenyList) },
		func(d *DenyList) bool { d.hosts = d.hosts[:0]; return true })
}

// The life of a heavy object: it is filled, published, read, and replaced; its
// memory serves the object after the next.
func Example() {
	pool := newDenyLists()
	lists := poolswap.NewContainer(pool, &DenyList{hosts: []string{"a.example"}})

	denied := func(host string) bool { // any number of goroutines
		list := lists.Acquire()
		defer lists.Release(list)
		return slices.Contains(list.hosts, host)
	}
	replace := func(hosts ...string) { // now and then
		next := lists.GetNew()
		next.hosts = append(next.hosts, hosts...)
		lists.Update(next)
	}

	fmt.Println(denied("a.example"), denied("b.example"))
	for range 100 {
		replace("b.example", "c.example")
	}
	fmt.Println(denied("a.example"), denied("b.example"))
	fmt.Println(pool.Stats().Live, "objects for 101 lists")
	// Output:
	// true false
	// false true
	// 2 objects for 101 lists
}

func ExampleContainer() {
	lists := poolswap.NewEmptyContainer(newDenyLists())

	next := lists.GetNew()
	next.hosts = append(next.hosts, "a.example")
	lists.Update(next)

	list := lists.Acquire()
	defer lists.Release(list)
	fmt.Println(list.hosts)
	// Output: [a.example]
}

// The first object need not come from the pool.
func ExampleNewContainer() {
	lists := poolswap.NewContainer(newDenyLists(), &DenyList{hosts: []string{"a.example"}})
	lists.WithAcquire(func(list *DenyList) { fmt.Println(list.hosts) })
	// Output: [a.example]
}

func ExampleNewEmptyContainer() {
	lists := poolswap.NewEmptyContainer(newDenyLists())
	fmt.Println(lists.Acquire() == nil)
	// Output: true
}

// A reader that may come before the first Update checks for nil. Release(nil)
// does nothing.
func ExampleContainer_Acquire() {
	lists := poolswap.NewEmptyContainer(newDenyLists())
	denied := func(host string) bool {
		list := lists.Acquire()
		defer lists.Release(list)
		return list != nil && slices.Contains(list.hosts, host)
	}
	fmt.Println(denied("a.example"))
	lists.Update(&DenyList{hosts: []string{"a.example"}})
	fmt.Println(denied("a.example"))
	// Output:
	// false
	// true
}

// A reference may pass to another goroutine, which then releases it.
func ExampleContainer_Release() {
	lists := poolswap.NewContainer(newDenyLists(), &DenyList{hosts: []string{"a.example"}})
	done := make(chan struct{})
	list := lists.Acquire()
	go func() {
		defer close(done)
		defer lists.Release(list)
		fmt.Println(list.hosts)
	}()
	<-done
	// Output: [a.example]
}

// WithAcquire releases the object even if the function panics.
func ExampleContainer_WithAcquire() {
	lists := poolswap.NewContainer(newDenyLists(), &DenyList{hosts: []string{"a.example", "b.example"}})
	size := 0
	lists.WithAcquire(func(list *DenyList) {
		if list != nil { // nil if the container is empty
			size = len(list.hosts)
		}
	})
	fmt.Println(size)
	// Output: 2
}

// An object from GetNew is either published or given back.
func ExampleContainer_GetNew() {
	lists := poolswap.NewEmptyContainer(newDenyLists())
	load := func(hosts []string) error {
		next := lists.GetNew()
		for i, host := range hosts {
			if host == "" {
				lists.Release(next)
				return fmt.Errorf("name %d is empty", i)
			}
			next.hosts = append(next.hosts, host)
		}
		lists.Update(next)
		return nil
	}
	fmt.Println(load([]string{"a.example", "b.example"}))
	fmt.Println(load([]string{"c.example", ""}))
	lists.WithAcquire(func(list *DenyList) { fmt.Println(list.hosts) })
	// Output:
	// <nil>
	// name 1 is empty
	// [a.example b.example]
}

// A reader keeps the object that it acquired, whatever is published meanwhile.
func ExampleContainer_Update() {
	lists := poolswap.NewContainer(newDenyLists(), &DenyList{hosts: []string{"a.example"}})
	before := lists.Acquire()

	next := lists.GetNew()
	next.hosts = append(next.hosts, "b.example")
	lists.Update(next)

	after := lists.Acquire()
	fmt.Println(before.hosts, after.hosts)
	lists.Release(before)
	lists.Release(after)

	lists.Update(nil) // empties the container
	fmt.Println(lists.Acquire() == nil)
	// Output:
	// [a.example] [b.example]
	// true
}

// A goroutine that reads in a loop has a Reader of its own.
func ExampleContainer_NewReader() {
	lists := poolswap.NewContainer(newDenyLists(), &DenyList{hosts: []string{"a.example"}})
	requests := make(chan string, 3)
	for _, host := range []string{"a.example", "b.example", "a.example"} {
		requests <- host
	}
	close(requests)

	reader := lists.NewReader()
	defer reader.Close()
	for host := range requests {
		fmt.Println(host, slices.Contains(reader.Load().hosts, host))
	}
	// Output:
	// a.example true
	// b.example false
	// a.example true
}

func ExampleReader() {
	lists := poolswap.NewContainer(newDenyLists(), &DenyList{hosts: []string{"a.example"}})
	reader := lists.NewReader()
	defer reader.Close()

	fmt.Println(reader.Load().hosts)
	lists.Update(&DenyList{hosts: []string{"b.example"}})
	fmt.Println(reader.Load().hosts)
	// Output:
	// [a.example]
	// [b.example]
}

// The object that Load returns is valid until the next Load, even when it was replaced
// long ago.
func ExampleReader_Load() {
	lists := poolswap.NewContainer(newDenyLists(), &DenyList{hosts: []string{"a.example"}})
	reader := lists.NewReader()
	defer reader.Close()

	list := reader.Load()
	lists.Update(&DenyList{hosts: []string{"b.example"}})
	fmt.Println(list.hosts)
	list = reader.Load()
	fmt.Println(list.hosts)
	// Output:
	// [a.example]
	// [b.example]
}

// Park releases the object before a long wait, so that the pool can recycle it
// meanwhile.
func ExampleReader_Park() {
	pool := newDenyLists()
	lists := poolswap.NewContainer(pool, &DenyList{hosts: []string{"a.example"}})
	reader := lists.NewReader()
	defer reader.Close()

	fmt.Println(reader.Load().hosts)
	reader.Park()
	lists.Update(&DenyList{hosts: []string{"b.example"}}) // while the reader waits
	fmt.Println(pool.Stats().Retired, "old objects are held")
	fmt.Println(reader.Load().hosts)
	// Output:
	// [a.example]
	// 0 old objects are held
	// [b.example]
}

func ExampleReader_Close() {
	pool := newDenyLists()
	list := &DenyList{hosts: []string{"a.example"}}
	lists := poolswap.NewContainer(pool, list)
	reader := lists.NewReader()
	reader.Load()
	fmt.Println(pool.Refs(list))
	reader.Close()
	fmt.Println(pool.Refs(list))
	// Output:
	// 1
	// 0
}
