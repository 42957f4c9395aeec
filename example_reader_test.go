package poolswap_test

import (
	"fmt"

	"github.com/poolswap/poolswap"
)

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

// What Load returns is valid until the next Load, even when it was replaced
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
